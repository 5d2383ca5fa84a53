package qdrant

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
)

// Default ports of a Qdrant server.
const (
	grpcPort = 6334
	RESTPort = 6333 // does not speak gRPC
)

// Address is where a server listens.
type Address struct {
	Host string
	Port int
	TLS  bool
}

// ParseAddress parses http://host:port or https://host:port; the default port is 6334. Errors do not quote the
// whole text, which may hold a password.
func ParseAddress(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, fmt.Errorf("qdrant: the address cannot be read, expected http://host:6334 or " +
			"https://host:6334")
	}
	shown := u.Redacted()
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return Address{}, fmt.Errorf("qdrant: address %q, expected http://host:6334 or https://host:6334", shown)
	case u.User != nil:
		return Address{}, fmt.Errorf("qdrant: address %q holds a user, expected none: the API key is given "+
			"separately", shown)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return Address{}, fmt.Errorf("qdrant: address %q has something after the port, expected nothing: gRPC has "+
			"no paths", shown)
	}
	a := Address{Host: u.Hostname(), Port: grpcPort, TLS: u.Scheme == "https"}
	if p := u.Port(); p != "" {
		if a.Port, err = strconv.Atoi(p); err != nil || a.Port < 1 || a.Port > 65535 {
			return Address{}, fmt.Errorf("qdrant: address %q: port %s, expected 1 to 65535", shown, p)
		}
	}
	return a, nil
}

func (a Address) String() string {
	scheme := "http"
	if a.TLS {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
}

// Loopback reports whether the server's name says that it is on this machine.
func (a Address) Loopback() bool {
	ip := net.ParseIP(a.Host)
	return a.Host == "localhost" || ip != nil && ip.IsLoopback()
}
