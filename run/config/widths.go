package config

import (
	"fmt"
	"strconv"
	"strings"
)

// parseWidths reads the widths of hidden layers: "512,256", or "none".
func parseWidths(text string) (list []int, err error) {
	if text == "none" {
		return nil, nil
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("found %q, expected widths, for example 512,256, or none", text)
		}
		list = append(list, n)
	}
	return list, nil
}
