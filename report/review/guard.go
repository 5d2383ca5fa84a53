package review

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
)

// Guard admits or refuses requests. It checks the Host header, because another domain's name may resolve to this
// address; the origin of the request; and a token, or the cookie set for the token. The cookie holds an HMAC of the
// token instead of the token, because other servers on this machine receive the cookies of all ports. A server that is
// restarted with the same token accepts the same cookie, so open pages keep working.
type Guard struct {
	at     *net.TCPAddr
	token  string
	cookie string
	secret string // value of the cookie
	hosts  map[string]bool
	mutex  sync.Mutex
	usable map[[sha256.Size]byte]func() // hash of a single-use token → callback on its use
}

// tokenBytes is the length of a generated token.
const tokenBytes = 16

// NewToken returns a token of 128 random bits.
func NewToken() string {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// CheckToken returns an error if a token is too short or too long, or has characters that URLs or cookies forbid.
func CheckToken(token string) error {
	const least, most = 16, 200
	if len(token) < least || len(token) > most {
		return fmt.Errorf("found %d bytes, expected %d to %d", len(token), least, most)
	}
	for _, c := range token {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_') {
			return fmt.Errorf("found %q, expected letters, digits, - and _", c)
		}
	}
	return nil
}

// NewGuard returns a guard for a server that listens at an address. The guard accepts these hosts: that address; all
// names of the loopback interface, if the server listens there; the names and addresses of this machine, if it listens
// on all interfaces; and the allowed hosts, with or without a port.
func NewGuard(token string, at *net.TCPAddr, allowed []string) *Guard {
	host, port, _ := net.SplitHostPort(at.String())
	g := &Guard{
		at: at, token: token, cookie: "winnow-review-" + port,
		hosts: map[string]bool{}, usable: map[[sha256.Size]byte]func(){},
	}
	follows := hmac.New(sha256.New, []byte(token))
	_, _ = follows.Write([]byte(g.cookie)) // never fails
	g.secret = hex.EncodeToString(follows.Sum(nil))
	names := []string{host}
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() || ip.IsUnspecified() {
		names = append(names, "127.0.0.1", "localhost", "::1")
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		names = append(names, ownNames()...)
	}
	for _, name := range names {
		g.hosts[strings.ToLower(net.JoinHostPort(name, port))] = true
	}
	for _, name := range allowed {
		name = strings.ToLower(name)
		g.hosts[name] = true
		if _, _, err := net.SplitHostPort(name); err != nil {
			g.hosts[net.JoinHostPort(strings.Trim(name, "[]"), port)] = true
		}
	}
	return g
}

// ownNames returns this machine's host name and the addresses of its network interfaces.
func ownNames() (names []string) {
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	addresses, _ := net.InterfaceAddrs() // on an error, only the host name is returned
	for _, a := range addresses {
		if in, ok := a.(*net.IPNet); ok {
			names = append(names, in.IP.String())
		}
	}
	return names
}

// headers of every response: the page loads only from this server, runs no inline scripts, and cannot be framed.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; " +
		"img-src 'self' blob: data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Permissions-Policy":           "camera=(), microphone=(), geolocation=()",
}

// Protect returns a handler that passes admitted requests to next.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if err := g.checkHost(req); err != nil {
			answerError(w, err)
			return
		}
		if req.URL.Path == "/" && req.Method == http.MethodGet && req.URL.Query().Has("token") {
			g.enterWithToken(w, req)
			return
		}
		bearer, err := g.isAdmitted(req)
		if err == nil && req.Method != http.MethodGet && req.Method != http.MethodHead {
			err = g.checkOrigin(req, bearer)
		}
		if err != nil {
			refuseEntry(w, req, err)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// refuseEntry answers a request without a valid token: a browser that opens the page gets a page, others get JSON.
func refuseEntry(w http.ResponseWriter, req *http.Request, err error) {
	if req.URL.Path != "/" || !strings.Contains(req.Header.Get("Accept"), "text/html") {
		answerError(w, err)
		return
	}
	w.Header().Set("Content-Type", kinds[".html"])
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(statusOf(err))
	_, _ = fmt.Fprintf(w, noEntry, html.EscapeString(err.Error()))
}

// noEntry is the page that a browser without a valid token gets.
const noEntry = `<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>winnow studio: the address lacks its token</title>
<h1>This address lacks its token</h1>
<p>Only the person who started winnow can open the studio, so its full address contains a secret token.
<ol><li>Go to the terminal in which <code>winnow studio</code> runs.
<li>Copy the whole address that it printed: it contains <code>?token=</code>.
<li>If the terminal is closed, start <code>winnow studio</code> again with <code>--open</code>. Your decisions are kept.
</ol><p><small>%s</small>
`

// checkHost refuses requests for other host names and requests sent by pages of other sites.
func (g *Guard) checkHost(req *http.Request) error {
	if !g.hosts[strings.ToLower(req.Host)] {
		return refuseWith(http.StatusForbidden, "host %.100q is not a name of this server; "+
			"to allow it, restart the server with --allow-host", req.Host)
	}
	site, mode := req.Header.Get("Sec-Fetch-Site"), req.Header.Get("Sec-Fetch-Mode")
	own := site == "" || site == "same-origin" || site == "none"
	page := req.Method == http.MethodGet && req.URL.Path == "/" && mode == "navigate" // a link to the page
	if !own && !page {
		return refuseWith(http.StatusForbidden, "the request comes from another page (%.40q)", site)
	}
	return nil
}

// compareSecrets compares secrets in constant time.
func compareSecrets(given, expected string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(expected))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// newOnceToken returns a single-use token. used is called when the token is used.
func (g *Guard) newOnceToken(used func()) string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	token := NewToken()
	g.usable[sha256.Sum256([]byte(token))] = used
	return token
}

// useToken reports whether a single-use token is valid, and invalidates it.
func (g *Guard) useToken(token string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	hash := sha256.Sum256([]byte(token))
	used, ok := g.usable[hash]
	if ok {
		delete(g.usable, hash)
		used()
	}
	return ok
}

// enterWithToken checks the token in the URL, sets the cookie and redirects to the page.
func (g *Guard) enterWithToken(w http.ResponseWriter, req *http.Request) {
	token := req.URL.Query().Get("token")
	once := g.useToken(token)
	if !once && !compareSecrets(token, g.token) {
		refuseEntry(w, req, refuseWith(http.StatusForbidden, "the token is wrong or was already used: "+
			"open the URL that winnow printed last"))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	// After a link on another site, browsers follow an HTTP redirect without the new SameSite=Strict cookie.
	if once || req.Header.Get("Sec-Fetch-Site") == "cross-site" {
		h.Set("Content-Type", kinds[".html"])
		_, _ = fmt.Fprintf(w, redirect, "/")
		return
	}
	h.Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// isAdmitted checks the bearer token or the cookie.
func (g *Guard) isAdmitted(req *http.Request) (bearer bool, err error) {
	if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		if compareSecrets(token, g.token) {
			return true, nil
		}
		return false, refuseWith(http.StatusUnauthorized, "the token is wrong")
	}
	if cookie, err := req.Cookie(g.cookie); err == nil && compareSecrets(cookie.Value, g.secret) {
		return false, nil
	}
	return false, refuseWith(http.StatusUnauthorized, "the token is missing: open the URL that winnow printed")
}

// checkOrigin refuses changes sent by pages of another origin. A request with the bearer token needs no Origin header,
// because other pages do not have the token.
func (g *Guard) checkOrigin(req *http.Request, bearer bool) error {
	origin := req.Header.Get("Origin")
	if origin == "" && bearer {
		return nil
	}
	at, err := url.Parse(origin)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || !strings.EqualFold(at.Host, req.Host) {
		return refuseWith(http.StatusForbidden, "origin %.100q is not this server", origin)
	}
	return nil
}
