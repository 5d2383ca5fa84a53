package labelstudio

import "testing"

func TestLocate(t *testing.T) {
	for value, want := range map[string]struct {
		path string
		from Origin
	}{
		"/data/local-files/?d=photos/a%20b%2Bc.jpg":              {"photos/a b+c.jpg", local},
		"/data/local-files?d=/photos/a.jpg":                      {"photos/a.jpg", local},
		"/data?d=photos/a.jpg":                                   {"photos/a.jpg", local},
		"https://ls.example.com/x/data/local-files/?x=1&d=a.jpg": {"a.jpg", local},
		"/data/upload/12/0f3c-a%20b.jpg":                         {"upload/12/0f3c-a b.jpg", Uploaded},
		"http://localhost:8080/data/upload/12/a.jpg":             {"upload/12/a.jpg", Uploaded},
		"https://example.com/a.jpg":                              {"https://example.com/a.jpg", Elsewhere},
		"gs://bucket/a.jpg":                                      {"gs://bucket/a.jpg", Elsewhere},
		"data:image/png;base64,AAAA":                             {"", Inside},
		"photos/data/upload/a.jpg":                               {"photos/data/upload/a.jpg", Plain},
		"what?d=a.jpg":                                           {"what?d=a.jpg", Plain},
	} {
		if path, from := Locate(value); path != want.path || from != want.from {
			t.Errorf("%q: %q, %d, expected %+v", value, path, from, want)
		}
	}
}
