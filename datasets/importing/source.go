package importing

import (
	"os"
	"strings"
)

// SourceAndSplit splits SOURCE=SPLIT. If a file exists under the whole name, it is a source with a = in its name.
func SourceAndSplit(arg string) (source, split string) {
	i := strings.LastIndexByte(arg, '=')
	if _, err := os.Stat(arg); err == nil || i <= 0 {
		return arg, ""
	}
	return arg[:i], arg[i+1:]
}
