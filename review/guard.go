package review

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Guard decides which requests are answered: by the host that they name (another page's name may point here), by the page that
// they come from, and by a token.
type Guard struct {
	Token  string
	cookie string
	hosts  map[string]bool
}

// tokenBytes is the length of a token made here.
const tokenBytes = 16

// NewToken makes a token of 128 random bits.
func NewToken() string {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// CheckToken refuses a token that does not fit an address or a cookie, or that is easily guessed.
func CheckToken(token string) error {
	const least, most = 16, 200
	if len(token) < least || len(token) > most {
		return fmt.Errorf("has %d bytes, expected %d to %d", len(token), least, most)
	}
	for _, c := range token {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_') {
			return fmt.Errorf("holds %q, expected letters, digits, - and _", c)
		}
	}
	return nil
}

// NewGuard guards a server that listens at an address. It answers to that address, on loopback to all names of it, on all
// networks to the names of this machine, and to the hosts allowed, with or without a port.
func NewGuard(token string, at net.Addr, allowed []string) *Guard {
	host, port, _ := net.SplitHostPort(at.String())
	g := &Guard{Token: token, cookie: "winnow-review-" + port, hosts: map[string]bool{}}
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

// ownNames returns this machine's names and addresses in its networks.
func ownNames() (names []string) {
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	addresses, _ := net.InterfaceAddrs() // without them there are fewer names
	for _, a := range addresses {
		if in, ok := a.(*net.IPNet); ok {
			names = append(names, in.IP.String())
		}
	}
	return names
}

// headers are on every answer: nothing from elsewhere is loaded, no inline script runs, no other page may frame this one.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Permissions-Policy":           "camera=(), microphone=(), geolocation=()",
}

// Protect passes on the requests that are allowed.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if err := g.known(req); err != nil {
			answerError(w, err)
			return
		}
		if req.URL.Path == "/" && req.Method == http.MethodGet && req.URL.Query().Has("token") {
			g.enter(w, req)
			return
		}
		bearer, err := g.admitted(req)
		if err == nil && req.Method != http.MethodGet && req.Method != http.MethodHead {
			err = g.own(req, bearer)
		}
		if err != nil {
			answerError(w, err)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// known refuses requests to other hosts' names, and those that other pages make.
func (g *Guard) known(req *http.Request) error {
	if !g.hosts[strings.ToLower(req.Host)] {
		return refuse(http.StatusForbidden, "host %.100q is not one of this server's: see --allow-host", req.Host)
	}
	site, mode := req.Header.Get("Sec-Fetch-Site"), req.Header.Get("Sec-Fetch-Mode")
	own := site == "" || site == "same-origin" || site == "none"
	page := req.Method == http.MethodGet && req.URL.Path == "/" && mode == "navigate" // a link followed to the page
	if !own && !page {
		return refuse(http.StatusForbidden, "another page (%.40q) makes this request", site)
	}
	return nil
}

// same compares a token in constant time.
func (g *Guard) same(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// enter takes the token of the address that the command prints and puts it into a cookie.
func (g *Guard) enter(w http.ResponseWriter, req *http.Request) {
	if !g.same(req.URL.Query().Get("token")) {
		answerError(w, refuse(http.StatusForbidden, "the token is not this server's: open the address that winnow review printed last"))
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// admitted checks the token, in the cookie or as a bearer token.
func (g *Guard) admitted(req *http.Request) (bearer bool, err error) {
	if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		if g.same(token) {
			return true, nil
		}
		return false, refuse(http.StatusUnauthorized, "the token is not this server's")
	}
	if cookie, err := req.Cookie(g.cookie); err == nil && g.same(cookie.Value) {
		return false, nil
	}
	return false, refuse(http.StatusUnauthorized, "a token is missing: open the address that winnow review printed")
}

// own refuses changes that another origin asks for. A request with the bearer token cannot come from a page that was tricked.
func (g *Guard) own(req *http.Request, bearer bool) error {
	origin := req.Header.Get("Origin")
	if origin == "" && bearer {
		return nil
	}
	at, err := url.Parse(origin)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || !strings.EqualFold(at.Host, req.Host) {
		return refuse(http.StatusForbidden, "origin %.100q is not this page", origin)
	}
	return nil
}
