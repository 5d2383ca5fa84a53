// Package size writes sizes of memory and files for people.
package size

import "fmt"

// Approx returns a number of bytes as text, rounded to a tenth of its unit.
func Approx(bytes int64) string {
	switch n := float64(bytes); {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", n/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", n/(1<<20))
	case bytes < 1<<10:
		return fmt.Sprintf("%d bytes", bytes)
	default:
		return fmt.Sprintf("%.1f KiB", n/(1<<10))
	}
}
