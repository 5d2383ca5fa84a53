package importing

import (
	"os"
	"strings"
)

// SourceAndSplit splits SOURCE=SPLIT. If a file has the whole name, the name is a source that contains a "=".
func SourceAndSplit(arg string) (source, split string) {
	i := strings.LastIndexByte(arg, '=')
	if _, err := os.Stat(arg); err == nil || i <= 0 {
		return arg, ""
	}
	return arg[:i], arg[i+1:]
}
