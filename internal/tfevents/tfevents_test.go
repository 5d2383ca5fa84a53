package tfevents

import (
	"hash/crc32"
	"testing"
)

// Known values: the CRC-32C of 32 zeros (RFC 3720, B.4), and the checksum of the length 24 at the start of event files
// written by TensorFlow.
func TestMaskedCRC(t *testing.T) {
	if sum := crc32.Checksum(make([]byte, 32), castagnoli); sum != 0x8a9136aa {
		t.Errorf("CRC-32C of 32 zeros is %#x", sum)
	}
	if got := maskedCRC([]byte{24, 0, 0, 0, 0, 0, 0, 0}); got != 0x224b7fa3 {
		t.Errorf("masked sum of the length 24 is %#x, expected 0x224b7fa3", got)
	}
}
