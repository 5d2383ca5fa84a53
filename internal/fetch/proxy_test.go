package fetch

import (
	"net/http"
	"testing"
	"time"
)

// The proxies of the environment are those of Go's net/http.
func TestProxy(t *testing.T) {
	if newHTTPClient(time.Second).Transport.(*http.Transport).Proxy == nil {
		t.Error("no proxy is looked for")
	}
}
