package datasets

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest returns a sha256 of the samples in order: paths, splits, given and true class names. Manifests with the
// same digest mean the same, whatever their form and other columns.
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
