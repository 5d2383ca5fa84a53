// Package tfevents writes scalars for TensorBoard.
package tfevents

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"winnow/internal/regular"
)

// File is a file of scalars in TensorBoard's event format: records of
//
//	length uint64 · masked CRC-32C of the length · Event as protobuf · masked CRC-32C of the event
//
// in little-endian order. The field numbers are those of TensorFlow's event.proto and summary.proto.
type File struct {
	w   io.WriteCloser
	now func() time.Time
	buf []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Scalar is one value under a tag.
type Scalar struct {
	Tag   string
	Value float64
}

// Open starts a new file in dir. TensorBoard joins the files of a folder. The session start event makes it discard
// values of earlier files from step on, because a resumed run writes them again.
func Open(dir string, step int, now func() time.Time) (*File, error) {
	for n := 0; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("events.out.tfevents.%010d.winnow.%d", now().Unix(), n))
		f, err := regular.OpenOwn(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("event file: %w", err)
		}
		e := &File{w: f, now: now}
		if err := e.startEvents(step); err != nil {
			f.Close()
			return nil, err
		}
		return e, nil
	}
}

func (e *File) startEvents(step int) error {
	if err := e.writeEvent(0, func(b []byte) []byte { // file_version = 3
		return protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), "brain.Event:2")
	}); err != nil {
		return err
	}
	return e.writeEvent(step, func(b []byte) []byte { // session_log = 7 { status = 1: START }
		log := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
		return protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), log)
	})
}

// Write writes one event with all values of a step.
func (e *File) Write(step int, values []Scalar) error {
	return e.writeEvent(step, func(b []byte) []byte {
		var summary, value []byte
		for _, v := range values {
			value = protowire.AppendString(protowire.AppendTag(value[:0], 1, protowire.BytesType), v.Tag)
			bits := math.Float32bits(float32(v.Value))
			value = protowire.AppendFixed32(protowire.AppendTag(value, 2, protowire.Fixed32Type), bits)
			summary = protowire.AppendBytes(protowire.AppendTag(summary, 1, protowire.BytesType), value)
		}
		return protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), summary)
	})
}

// writeEvent writes one event: wall_time = 1 (seconds, double), step = 2, and the fields added by body.
func (e *File) writeEvent(step int, body func([]byte) []byte) error {
	const head = 12
	b := append(e.buf[:0], make([]byte, head)...)
	seconds := float64(e.now().UnixMicro()) / 1e6
	b = protowire.AppendFixed64(protowire.AppendTag(b, 1, protowire.Fixed64Type), math.Float64bits(seconds))
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(step))
	b = body(b)
	binary.LittleEndian.PutUint64(b, uint64(len(b)-head))
	binary.LittleEndian.PutUint32(b[8:], maskedCRC(b[:8]))
	b = binary.LittleEndian.AppendUint32(b, maskedCRC(b[head:]))
	e.buf = b
	if _, err := e.w.Write(b); err != nil {
		return fmt.Errorf("event file: %w", err)
	}
	return nil
}

// Close closes the file.
func (e *File) Close() error { return e.w.Close() }

// maskedCRC returns the CRC-32C, rotated and with an offset, so that a checksum may be stored with the data it covers.
func maskedCRC(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
