package architecture

import (
	"fmt"
	"os"
	"strings"
)

// Open reads a description: an embedded one by name, or a file that ends in .yaml or .yml.
func Open(name string) (*Network, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return Embedded(name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("architecture: %w", err)
	}
	return Parse(name, text)
}
