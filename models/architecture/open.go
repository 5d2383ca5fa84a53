package architecture

import (
	"fmt"
	"strings"

	"winnow/internal/regular"
)

// mostText is the largest description in bytes.
const mostText = 1 << 20

// Open reads a description: an embedded one by name, or a file that ends in .yaml or .yml.
func Open(name string) (*Network, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return Embedded(name)
	}
	text, err := regular.ReadFile(name, mostText)
	if err != nil {
		return nil, fmt.Errorf("architecture: %w", err)
	}
	return Parse(name, text)
}
