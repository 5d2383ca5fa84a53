package ortlib

import (
	"bufio"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/regular"
)

// systemFolders returns the folders of the system's loader. Windows has none here: the onnxruntime.dll in its
// system folder belongs to Windows itself and is years old.
func systemFolders(goos, ldconf string) []string {
	switch goos {
	case "windows":
		return nil
	case "darwin":
		return []string{"/opt/homebrew/lib", "/opt/homebrew/opt/onnxruntime/lib",
			"/usr/local/lib", "/usr/local/opt/onnxruntime/lib"}
	}
	folders := []string{"/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/opt/onnxruntime/lib"}
	for _, f := range listLdconfigFolders(ldconf, 0) {
		if !slices.Contains(folders, f) {
			folders = append(folders, f)
		}
	}
	return folders
}

// listLdconfigFolders lists the folders named in a configuration of ldconfig, following includes. What cannot be read
// is skipped: these are only places to look.
func listLdconfigFolders(path string, depth int) []string {
	file, err := regular.Open(path)
	if err != nil || depth > 4 {
		return nil
	}
	defer file.Close()
	var folders []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "include "); ok {
			pattern = strings.TrimSpace(pattern)
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(path), pattern)
			}
			matches, _ := filepath.Glob(pattern)
			for _, m := range matches {
				folders = append(folders, listLdconfigFolders(m, depth+1)...)
			}
		} else if filepath.IsAbs(line) {
			folders = append(folders, line)
		}
	}
	return folders
}
