package labelstudio

import (
	"net/url"
	"strings"
)

// Origin says where the image of a task is stored.
type Origin int

// The origins.
const (
	Plain     Origin = iota // at a path
	local                   // a file below LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT
	Uploaded                // uploaded into Label Studio, which stores it below media in its data folder
	Elsewhere               // at a URL
	Inside                  // embedded in the task itself
)

const (
	localFiles = "/data/local-files"
	uploads    = "/data/upload/"
)

// Locate returns the path of a task's image; if it is below the document root or the folder media, relative to
// that.
func Locate(value string) (string, Origin) {
	value = strings.TrimSpace(value)
	if len(value) >= 5 && strings.EqualFold(value[:5], "data:") {
		return "", Inside
	}
	scheme, rest, remote := strings.Cut(value, "://")
	host := value
	if remote && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		host = rest
	}
	if before, query, ok := strings.Cut(host, "?"); ok &&
		(!remote && before == "/data" || strings.HasSuffix(strings.TrimRight(before, "/"), localFiles)) {
		for _, part := range strings.Split(query, "&") {
			if d, ok := strings.CutPrefix(part, "d="); ok {
				if path, err := url.QueryUnescape(d); err == nil {
					return strings.TrimLeft(path, "/"), local
				}
			}
		}
	}
	if at := strings.Index(host, uploads); at == 0 || at > 0 && remote {
		if path, err := url.PathUnescape(host[at+len("/data/"):]); err == nil {
			return path, Uploaded
		}
	}
	if remote {
		return value, Elsewhere
	}
	return value, Plain
}

// localFile returns the URL of a file below the document root.
func localFile(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(parts[i]), "+", "%20")
	}
	return localFiles + "/?d=" + strings.Join(parts, "/")
}
