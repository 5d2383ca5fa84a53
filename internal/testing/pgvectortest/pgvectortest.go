// Package pgvectortest runs PostgreSQL with pgvector for tests. It uses PGlite, which is PostgreSQL compiled to
// WebAssembly, in memory and behind a socket; `make pgserver` installs it with npm. All connections share one session
// of the server, one request at a time, without a password.
package pgvectortest

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var started = sync.OnceValues(start)

// alive keeps the server's standard input from being garbage-collected, which would close it.
var alive []io.Closer

// New returns the URL of a database shared by the tests of a package; each test uses its own tables. Without node or
// the npm package, the test is skipped; with CI=true it fails.
func New(t testing.TB) string {
	t.Helper()
	port, missing := started()
	if missing != "" && os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	if missing != "" {
		t.Skipf("pgvector is NOT tested: %s", missing)
	}
	return "postgres://postgres@127.0.0.1:" + port + "/postgres?sslmode=disable"
}

// start starts the server, which ends when its standard input closes, and therefore with the test process.
func start() (port, missing string) {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		return "", "the server is not installed: make pgserver"
	}
	node := exec.Command("node", "server.mjs")
	node.Dir, node.Stderr = dir, os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		return "", err.Error()
	}
	alive = append(alive, in)
	out, err := node.StdoutPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		return "", err.Error()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", "the server did not start: " + err.Error()
	}
	return strings.TrimSpace(line), ""
}

// Proxy forwards connections to a server and breaks them on request.
type Proxy struct {
	URL string

	mu    sync.Mutex
	conns []net.Conn
	cut   func(sent int64) bool
	sent  int64
	cuts  int
}

// NewProxy returns a proxy for the server at a URL. Before forwarding bytes, it calls cut with the number of bytes that
// all clients have sent; if cut returns true, it breaks all connections.
func NewProxy(t testing.TB, url string, cut func(sent int64) bool) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	at := strings.Index(url, "127.0.0.1:")
	end := at + strings.IndexByte(url[at:], '/')
	server := url[at:end]
	p := &Proxy{URL: url[:at] + listener.Addr().String() + url[end:], cut: cut}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, client, up)
			p.mu.Unlock()
			go func() { _, _ = io.Copy(client, up); client.Close() }()
			go p.pass(up, client)
		}
	}()
	return p
}

func (p *Proxy) pass(up, client net.Conn) {
	defer up.Close()
	b := make([]byte, 4096)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.sent += int64(n)
		if p.cut(p.sent) {
			p.cuts++
			for _, c := range p.conns {
				c.Close()
			}
			p.conns = nil
		}
		p.mu.Unlock()
		if _, err := up.Write(b[:n]); err != nil {
			return
		}
	}
}
