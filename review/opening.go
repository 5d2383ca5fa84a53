package review

import (
	"fmt"
	"html"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// address returns the address of the page with a token.
func (g *Guard) address(token string) string {
	host := g.at.IP.String()
	if g.at.IP.IsUnspecified() {
		host = "127.0.0.1"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, fmt.Sprint(g.at.Port)), Path: "/", RawQuery: url.Values{"token": {token}}.Encode()}
	return u.String()
}

// Address returns the address that lets in all to whom it is given.
func (g *Guard) Address() string { return g.address(g.token) }

// redirect is a page that goes on to an address.
const redirect = `<!DOCTYPE html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>winnow review</title>
<meta http-equiv="refresh" content="0;url=%[1]s">
<a href="%[1]s">winnow review</a>
`

// OpenPage shows the page with show, which is given a file that leads there: every user of a machine sees the arguments of
// programs, while this file only its owner can read, and the token in it lets in once. It lies in dir, since browsers in a
// sandbox see no folder for temporary files, until it has let in or remove is called.
func (g *Guard) OpenPage(dir string, show func(file string) error) (remove func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "winnow-review-*.html")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) } // again: it is gone
	_, err = fmt.Fprintf(f, redirect, html.EscapeString(g.address(g.once(remove))))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = show(f.Name())
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// Browse asks the system to show a file.
func Browse(file string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	shown := exec.Command(command[0], append(command[1:], file)...)
	if err := shown.Start(); err != nil {
		return err
	}
	go func() { _ = shown.Wait() }() // it is the browser's life from here on
	return nil
}
