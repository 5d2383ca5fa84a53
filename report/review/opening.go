package review

import (
	"errors"
	"fmt"
	"html"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// makePageAddress returns the URL of the page with a token.
func (g *Guard) makePageAddress(token string) string {
	host := g.at.IP.String()
	if g.at.IP.IsUnspecified() {
		host = "127.0.0.1"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	u := url.URL{
		Scheme: "http", Host: net.JoinHostPort(host, fmt.Sprint(g.at.Port)), Path: "/",
		RawQuery: url.Values{"token": {token}}.Encode(),
	}
	return u.String()
}

// Address returns the URL of the page with the server's token, which gives access to everyone who has the URL.
func (g *Guard) Address() string { return g.makePageAddress(g.token) }

// redirect is an HTML page that redirects to a URL.
const redirect = `<!DOCTYPE html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>winnow</title>
<meta http-equiv="refresh" content="0;url=%[1]s">
<a href="%[1]s">winnow</a>
`

// OpenPage calls show with the path of an HTML file that redirects to the page. A file hides the token: all users of a
// machine can see the arguments of a process, but only the owner can read this file, and its token works once. The file
// is in dir, because sandboxed browsers cannot read the folder for temporary files. It is removed when the token is
// used or remove is called.
func (g *Guard) OpenPage(dir string, show func(file string) error) (remove func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "winnow-review-*.html")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) } // may be called twice
	_, err = fmt.Fprintf(f, redirect, html.EscapeString(g.makePageAddress(g.newOnceToken(remove))))
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

// findBrowser returns the command that opens a file in the user's browser.
func findBrowser() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// CanBrowse returns an error if no browser can be opened: the command is missing, or there is no display.
func CanBrowse() error {
	if _, err := exec.LookPath(findBrowser()[0]); err != nil {
		return err
	}
	if findBrowser()[0] == "xdg-open" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("neither DISPLAY nor WAYLAND_DISPLAY is set")
	}
	return nil
}

// Browse asks the system to open a file in the browser.
func Browse(file string) error {
	command := findBrowser()
	shown := exec.Command(command[0], append(command[1:], file)...)
	if err := shown.Start(); err != nil {
		return err
	}
	go func() { _ = shown.Wait() }() // the command may run as long as the browser
	return nil
}
