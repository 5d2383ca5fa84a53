package datasets

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest returns a sha256 of the samples in their order: paths, splits, given and true classes by name. Manifests of one digest mean the
// same, whatever their form and further columns.
func (d *Dataset) Digest() string {
	sum := sha256.New()
	to := bufio.NewWriter(sum)
	for i := range d.Samples {
		s := &d.Samples[i]
		fmt.Fprintf(to, "%q %q %q %q\n", s.Path, s.Split, d.className(s.Label), d.className(s.True))
	}
	to.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}
