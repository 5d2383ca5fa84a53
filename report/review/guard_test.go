package review

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// knock sends a request with exactly these headers, which may include Host.
func (w *world) knock(method, path, body string, headers map[string]string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for name, value := range headers {
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	client := *w.server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { a.Body.Close() })
	return a
}

// with returns the base headers with additional headers.
func with(base map[string]string, more ...string) map[string]string {
	m := map[string]string{}
	for k, v := range base {
		m[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		m[more[i]] = more[i+1]
	}
	return m
}

// TestGuard checks which requests are admitted.
func TestGuard(t *testing.T) {
	w := newWorld(t, 60)
	host := strings.TrimPrefix(w.server.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	cookie := map[string]string{"Cookie": "winnow-review-" + port + "=" + w.guard.secret}
	bearer := map[string]string{"Authorization": "Bearer " + testToken}
	post := with(cookie, "Content-Type", "application/json", "Origin", "http://"+host)
	undo, nothing := `{"tab":"t"}`, 404 // admitted; there is nothing to undo
	for _, c := range []struct {
		what, method, path, body string
		headers                  map[string]string
		want                     int
	}{
		{"cookie", "GET", "/api/session", "", cookie, 200},
		{"bearer", "GET", "/api/session", "", bearer, 200},
		{"the page", "GET", "/", "", cookie, 200},
		{"no token", "GET", "/api/session", "", nil, 401},
		{"no token for the page", "GET", "/", "", nil, 401},
		{"no token for an image", "GET", "/image/0", "", nil, 401},
		{"no token for a page's part", "GET", "/page.css", "", nil, 401},
		{"another token", "GET", "/api/session", "",
			map[string]string{"Authorization": "Bearer " + testToken + "x"}, 401},
		{"a part of the token", "GET", "/api/session", "",
			map[string]string{"Authorization": "Bearer " + testToken[:10]}, 401},
		{"an empty token", "GET", "/api/session", "", map[string]string{"Authorization": "Bearer "}, 401},
		{"basic", "GET", "/api/session", "", map[string]string{"Authorization": "Basic " + testToken}, 401},
		{"a wrong bearer beside the cookie", "GET", "/api/session", "", with(cookie, "Authorization", "Bearer x"), 401},
		{"another port's cookie", "GET", "/api/session", "",
			map[string]string{"Cookie": "winnow-review-1=" + w.guard.secret}, 401},
		{"the token as a cookie", "GET", "/api/session", "",
			map[string]string{"Cookie": "winnow-review-" + port + "=" + testToken}, 401},
		{"the cookie's secret as a token", "GET", "/api/session", "",
			map[string]string{"Authorization": "Bearer " + w.guard.secret}, 401},
		{"the cookie's secret in the address", "GET", "/?token=" + w.guard.secret, "", nil, 403},
		{"another cookie", "GET", "/api/session", "", map[string]string{"Cookie": "winnow-review-" + port + "=nix"},
			401},
		{"a token in another address", "GET", "/api/session?token=" + testToken, "", nil, 401},

		{"localhost", "GET", "/api/session", "", with(bearer, "Host", "LocalHost:"+port), 200},
		{"::1", "GET", "/api/session", "", with(bearer, "Host", "[::1]:"+port), 200},
		{"another name", "GET", "/api/session", "", with(bearer, "Host", "evil.example:"+port), 403},
		{"another name that begins so", "GET", "/api/session", "",
			with(bearer, "Host", "127.0.0.1.evil.example:"+port), 403},
		{"another port", "GET", "/api/session", "", with(bearer, "Host", "127.0.0.1:1"), 403},
		{"no port", "GET", "/api/session", "", with(bearer, "Host", "127.0.0.1"), 403},
		{"another name with the token", "GET", "/?token=" + testToken, "",
			map[string]string{"Host": "evil.example:" + port}, 403},

		{"same origin fetch", "GET", "/thumb/0", "", with(cookie, "Sec-Fetch-Site", "same-origin"), 200},
		{"typed", "GET", "/", "", with(cookie, "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"), 200},
		{"a link elsewhere to the page", "GET", "/", "",
			with(cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 200},
		{"an image in a page elsewhere", "GET", "/thumb/0", "",
			with(cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"), 403},
		{"another port's page", "GET", "/api/session", "",
			with(cookie, "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"), 403},
		{"a link elsewhere to an image", "GET", "/image/0", "",
			with(cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 403},
		{"the page fetched from elsewhere", "GET", "/", "",
			with(cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"), 403},

		{"own origin", "POST", "/api/undo", undo, post, nothing},
		{"bearer without origin", "POST", "/api/undo", undo, with(bearer, "Content-Type", "application/json"), nothing},
		{"cookie without origin", "POST", "/api/undo", undo, with(cookie, "Content-Type", "application/json"), 403},
		{"another origin", "POST", "/api/undo", undo, with(post, "Origin", "http://evil.example"), 403},
		{"another port's origin", "POST", "/api/undo", undo, with(post, "Origin", "http://127.0.0.1:1"), 403},
		{"another origin with bearer", "POST", "/api/undo", undo,
			with(post, "Origin", "http://evil.example", "Authorization", "Bearer "+testToken), 403},
		{"origin null", "POST", "/api/undo", undo, with(post, "Origin", "null"), 403},
		{"origin of a file", "POST", "/api/undo", undo, with(post, "Origin", "file://"+host), 403},
		{"another page's fetch", "POST", "/api/undo", undo, with(post, "Sec-Fetch-Site", "same-site"), 403},
		{"a form", "POST", "/api/undo", undo, with(post, "Content-Type", "application/x-www-form-urlencoded"), 415},
		{"plain text", "POST", "/api/undo", undo, with(post, "Content-Type", "text/plain"), 415},
		{"no type", "POST", "/api/undo", undo, with(cookie, "Origin", "http://"+host), 415},

		{"nowhere", "GET", "/nix", "", cookie, 404},
		{"a folder", "GET", "/page/", "", cookie, 404},
		{"up", "GET", "/../guard.go", "", cookie, 404},
		{"two slashes", "GET", "//api/session", "", cookie, 404},
		{"get of a change", "GET", "/api/decide", "", cookie, 405},
		{"post of a query", "POST", "/api/session", "{}", post, 405},
		{"put", "PUT", "/api/session", "{}", post, 405},
		{"delete", "DELETE", "/image/0", "", post, 405},
		{"head", "HEAD", "/api/session", "", cookie, 405},
		{"options", "OPTIONS", "/api/decide", "", post, 405},
		{"trace", "TRACE", "/", "", post, 405},
	} {
		a := w.knock(c.method, c.path, c.body, c.headers)
		if a.StatusCode != c.want {
			body, _ := io.ReadAll(a.Body)
			t.Errorf("%s: %d %s, expected %d", c.what, a.StatusCode, body, c.want)
		}
		for name, want := range headers {
			if got := a.Header.Get(name); got != want && !strings.HasPrefix(c.path, "/image/") {
				t.Errorf("%s: %s is %q", c.what, name, got)
			}
		}
	}
}

// TestEnter checks that the printed URL sets the cookie and redirects to a URL without the token.
func TestEnter(t *testing.T) {
	w := newWorld(t, 60)
	a := w.knock("GET", "/?token="+testToken, "", nil)
	cookies := a.Cookies()
	if a.StatusCode != 303 || a.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
		!strings.HasPrefix(c.Name, "winnow-review-") {
		t.Errorf("%+v", c)
	}
	if a := w.knock("GET", "/", "", map[string]string{"Cookie": cookies[0].Name + "=" +
		cookies[0].Value}); a.StatusCode != 200 {
		t.Errorf("with the cookie: %d", a.StatusCode)
	}
	if strings.Contains(cookies[0].Value, testToken) {
		t.Error("the cookie contains the token")
	}
	again := NewGuard(testToken, w.guard.at, nil)
	other := NewGuard(testToken, &net.TCPAddr{IP: w.guard.at.IP, Port: w.guard.at.Port + 1}, nil)
	if again.secret != cookies[0].Value || other.secret == again.secret {
		t.Error("the secret differs after a restart, or is the same for another port")
	}
	for _, token := range []string{"", "x", testToken + "x"} {
		if a := w.knock("GET", "/?token="+token, "", nil); a.StatusCode != 403 || len(a.Cookies()) > 0 {
			t.Errorf("%q: %d %v", token, a.StatusCode, a.Cookies())
		}
	}
}

// TestAllowHost checks allowed host names, with and without a port, and their origins.
func TestAllowHost(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 8080}
	g := NewGuard(testToken, at, []string{"Review.example", "other.example:99"})
	for host, want := range map[string]bool{
		"10.0.0.5:8080": true, "review.example": true, "review.example:8080": true, "other.example:99": true,
		"other.example": false, "other.example:8080": false, "127.0.0.1:8080": false, "localhost:8080": false,
		"review.example:1": false, "": false,
	} {
		if got := g.hosts[host]; got != want {
			t.Errorf("%s: %v, expected %v", host, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	if a, b := NewToken(), NewToken(); a == b || len(a) != 32 || CheckToken(a) != nil {
		t.Errorf("made %q and %q", a, b)
	}
	for _, token := range []string{"", "short", strings.Repeat("x", 201), "0123456789abcdef;", "0123456789abcdef x",
		"0123456789abcdefé", "0123456789abcdef%"} {
		if CheckToken(token) == nil {
			t.Errorf("%q was accepted", token)
		}
	}
}

// TestServe checks that a running request is finished when the server is stopped.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stop()
		_, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
		for ; err == nil; _, err = net.DialTimeout("tcp", l.Addr().String(), time.Second) {
		} // until the server has closed its listener
		_, _ = io.WriteString(w, "to the end")
	})
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, h, log.New(io.Discard, "", 0)) }()
	a, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if body, err := io.ReadAll(a.Body); err != nil || string(body) != "to the end" {
		t.Errorf("got %q, %v", body, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestOwnNames checks that a server that listens on all interfaces accepts this machine's name, which it prints.
func TestOwnNames(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	for ip, want := range map[string]bool{"0.0.0.0": true, "::": true, "127.0.0.1": false, "10.0.0.5": false} {
		g := NewGuard(testToken, &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080}, nil)
		if got := g.hosts[strings.ToLower(name)+":8080"]; got != want && name != "localhost" {
			t.Errorf("listening at %s, %s:8080 is admitted: %v, expected %v", ip, name, got, want)
		}
		if g.hosts["evil.example:8080"] {
			t.Errorf("listening at %s, any name is admitted", ip)
		}
	}
}
