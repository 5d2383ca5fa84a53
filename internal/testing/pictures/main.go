// Command pictures makes the pictures of the documentation. It runs winnow as its users would, and takes
// screenshots of the pages with a headless Chromium. The pictures show only drawn characters and MNIST, whose
// licences allow it.
//
//	make pictures                                  # of drawn characters, two minutes
//	make pictures MNIST=mnist/                     # also of MNIST's wrong labels: a training of some ten minutes
//	make pictures MNIST=mnist/ MNIST_MODEL=m.onnx  # with an existing network
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"winnow/internal/atomicfile"
)

// limit is the largest size of a picture in bytes.
const limit = 200_000

func main() {
	var m maker
	flag.StringVar(&m.winnow, "winnow", "bin/winnow", "the program, `FILE`")
	flag.StringVar(&m.out, "out", "docs/pictures", "write the pictures to `DIR`")
	flag.StringVar(&m.mnist, "mnist", "", "`DIR` of MNIST's four files")
	flag.StringVar(&m.model, "model", "", "look at MNIST by the network `FILE`.onnx (default: one trained on the spot)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := m.make(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// maker makes the pictures in a temporary folder.
type maker struct {
	winnow, out, mnist, model string
	chromium, dir             string
}

func (m *maker) make(ctx context.Context) (err error) {
	if m.chromium, err = browser(); err != nil {
		return err
	}
	for _, path := range []*string{&m.winnow, &m.out, &m.mnist, &m.model} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if m.dir, err = os.MkdirTemp("", "winnow-pictures-"); err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	if err := os.MkdirAll(m.out, 0o755); err != nil {
		return err
	}
	if err := m.characters(ctx); err != nil {
		return err
	}
	if m.mnist == "" {
		fmt.Println("mnist-wrong-labels.png stays as it is: it needs a folder with MNIST's four files, make " +
			"pictures MNIST=DIR")
		return nil
	}
	return m.digits(ctx)
}

// characters shows the pages of a small demo: four in ten training labels of drawn characters are wrong.
func (m *maker) characters(ctx context.Context) error {
	const manifest, images, list = "demo/manifest.csv", "demo/images.zip", "suspects.csv"
	for _, line := range [][]string{
		{"demo", "--out", "demo", "--classes", "120", "--images", "30", "--noise-rate", "0.4"},
		{"report", "demo/heads/prism", "--root", images, "--out", "report.html"},
		{"audit", manifest, "--root", images, "--out", list},
		{"map", "demo/heads/prism", "--root", images, "--split", "train", "--color", "suspect", "--audit", list,
			"--out", "map.html"},
	} {
		if err := m.run(ctx, line...); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		name, page    string
		width, height int
	}{
		{"report.png", "report.html", 1280, 960},
		{"map.png", "map.html", 1280, 960},
		{"audit.png", "suspects.html", 1280, 800},
	} {
		if err := m.shoot(ctx, p.name, "file://"+filepath.Join(m.dir, p.page), p.width, p.height); err != nil {
			return err
		}
	}
	return m.review(ctx, list, "--manifest", manifest, "--root", images, "--features", "suspects.features",
		"--decisions", "decisions.db", "--out", "mended.csv", "--check=false")
}

// review shows views of the page of winnow review and winnow studio, as one sees them who has told a name.
func (m *maker) review(ctx context.Context, args ...string) error {
	const token = "pictures-of-winnow"
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	listen := free.Addr().String()
	free.Close()
	cmd := m.command(ctx, append([]string{"review", "--listen", listen, "--token", token}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	serving, stop := context.WithCancel(ctx)
	defer stop()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	page := "http://" + listen + "/?token=" + token
	for try := 0; ; try++ {
		answer, err := http.Get(page)
		if err == nil {
			answer.Body.Close()
			break
		}
		if try == 600 {
			return fmt.Errorf("winnow review does not answer: %w", err)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-serving.Done():
			return serving.Err()
		}
	}
	// A cookie belongs to a host, not to a port: this server sets the name and redirects the browser.
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer door.Close()
	go func() {
		_ = http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "winnow-reviewer", Value: "Ada", Path: "/"})
			http.Redirect(w, r, page, http.StatusSeeOther)
		}))
	}()
	for _, p := range []struct{ name, view string }{
		{"review.png", "suspects"}, {"studio.png", "data"}, {"studio-map.png", "map"},
		{"studio-runs.png", "runs"},
	} {
		if err := m.shoot(ctx, p.name, "http://"+door.Addr().String()+"/#view="+p.view, 1280, 860); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.winnow, args...)
	cmd.Dir, cmd.Stderr = m.dir, os.Stderr
	// do not change the user's list of backbones
	cmd.Env = append(os.Environ(), "WINNOW_MODELS="+filepath.Join(m.dir, "models.json"))
	return cmd
}

func (m *maker) run(ctx context.Context, args ...string) error {
	fmt.Println("winnow", strings.Join(args, " "))
	if err := m.command(ctx, append([]string{"--quiet"}, args...)...).Run(); err != nil {
		return fmt.Errorf("winnow %s: %w", args[0], err)
	}
	return nil
}

// shoot writes what a browser shows at an address.
func (m *maker) shoot(ctx context.Context, name, address string, width, height int) error {
	file := filepath.Join(m.dir, name)
	args := []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--user-data-dir=" + filepath.Join(m.dir, "chromium"),
		"--virtual-time-budget=10000", fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot=" + file}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium has no sandbox for root
	}
	if out, err := exec.CommandContext(ctx, m.chromium, append(args, address)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.400s", name, err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if data, err = smaller(data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > limit {
		return fmt.Errorf("%s has %d bytes, expected at most %d: make its window smaller", name, len(data), limit)
	}
	fmt.Printf("%s  %d×%d, %d kB\n", name, width, height, len(data)/1000)
	return atomicfile.WriteBytes(filepath.Join(m.out, name), data)
}

func browser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium in PATH: install Debian's packages chromium and fonts-dejavu-core")
}
