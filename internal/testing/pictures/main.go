// Command pictures makes the images of the documentation. It runs winnow as a user would, and takes screenshots of the
// pages with a headless Chromium. They show only the quickstart's drawings and MNIST, whose licences allow it.
//
//	make pictures                                  # of the quickstart, two minutes
//	make pictures ONLY=moving                      # the moving picture of README.md alone; pages, beside, digits
//	make pictures MNIST=mnist/                     # also of MNIST's wrong labels; trains for about ten minutes
//	make pictures MNIST=mnist/ MNIST_MODEL=m.onnx  # with an existing network
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/testing/reviewing"
)

// limit is the largest size of an image in bytes.
const limit = 200_000

func main() {
	var m maker
	flag.StringVar(&m.winnow, "winnow", "bin/winnow", "the program, `FILE`")
	flag.StringVar(&m.out, "out", "docs/pictures", "write the images to `DIR`")
	flag.StringVar(&m.mnist, "mnist", "", "`DIR` of MNIST's four files")
	flag.StringVar(&m.model, "model", "", "embed MNIST with the network `FILE`.onnx (default: train one)")
	flag.StringVar(&m.only, "only", "", "draw only `NAME`: moving, pages, beside or digits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := m.make(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// reviewerName is the name of the reviewer shown on the pages.
const reviewerName = "Ada"

// maker makes the images in a temporary folder.
type maker struct {
	winnow, out, mnist, model, only string
	chromium, dir                   string
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
	for _, p := range []struct {
		name string
		draw func(context.Context) error
	}{{"moving", m.moving}, {"pages", m.quickstart}, {"beside", m.beside}, {"digits", m.digits}} {
		switch {
		case m.only != "" && m.only != p.name:
		case p.name == "digits" && m.mnist == "":
			fmt.Println("mnist-wrong-labels.png is unchanged: it needs a folder with MNIST's four files, make " +
				"pictures MNIST=DIR")
		default:
			if err := p.draw(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// quickstart shows the pages of the quickstart, and of a training on its images.
func (m *maker) quickstart(ctx context.Context) error {
	const images, features = "demo/images", "demo/suspects.features"
	for _, line := range [][]string{
		{"quickstart", "--no-open", "--out", "demo"},
		{"data", "import", images, "--split", "train=0.6,test=0.4", "--by", "image", "--out", "photos.csv"},
		{"train", "--manifest", "photos.csv", "--root", images, "--features", features, "--out", "run"},
		{"report", "run", "--root", images, "--out", "report.html"},
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
		{"audit.png", "demo/suspects.html", 1280, 800},
	} {
		if err := m.shoot(ctx, p.name, "file://"+filepath.Join(m.dir, p.page), p.width, p.height); err != nil {
			return err
		}
	}
	return m.review(ctx, "demo/suspects.csv", "--manifest", "demo/manifest.csv", "--root", images, "--features",
		features, "--decisions", "decisions.db", "--out", "fixed.csv")
}

// review makes screenshots of views of winnow studio and winnow studio.
func (m *maker) review(ctx context.Context, args ...string) error {
	_, err := m.reviewing(ctx, append([]string{"studio"}, args...), func(_ reviewing.Page, address string) error {
		for _, p := range []struct{ name, view string }{
			{"review.png", "suspects"}, {"studio.png", "data"}, {"studio-map.png", "map"},
		} {
			if err := m.shoot(ctx, p.name, address+"#view="+p.view, 1280, 860); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// reviewing starts the server of a review and calls use with its page and an address that opens the page for a named
// reviewer. It then ends the server as Ctrl-C does, and returns the server's messages.
func (m *maker) reviewing(ctx context.Context, args []string,
	use func(page reviewing.Page, address string) error) (said string, err error) {
	cmd := m.command(ctx, append(args, "--token", "pictures-of-winnow")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errs strings.Builder
	cmd.Stderr = io.MultiWriter(&errs, os.Stderr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		err = errors.Join(err, cmd.Wait())
		said = errs.String()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("winnow %s printed no address: %w", args[0], err)
	}
	address = strings.TrimSpace(address)
	page, err := reviewing.Open(address)
	if err != nil {
		return "", err
	}
	// A cookie belongs to a host, not a port, so this server can set the reviewer's name before redirecting.
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer door.Close()
	go func() {
		_ = http.Serve(door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "winnow-reviewer", Value: reviewerName, Path: "/"})
			http.Redirect(w, r, address, http.StatusSeeOther)
		}))
	}()
	return "", use(page, "http://"+door.Addr().String()+"/")
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

// output runs a command line of winnow and returns its output.
func (m *maker) output(ctx context.Context, line string) (string, error) {
	fmt.Println(line)
	cmd := m.command(ctx, append([]string{"--quiet"}, strings.Fields(line)[1:]...)...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", line, err)
	}
	return string(out), nil
}

func (m *maker) shell(ctx context.Context, script string) error {
	cmd := exec.CommandContext(ctx, "bash", "-euc", script)
	cmd.Dir, cmd.Stderr = m.dir, os.Stderr
	return cmd.Run()
}

// shoot writes a screenshot of an address to a file.
func (m *maker) shoot(ctx context.Context, name, address string, width, height int) error {
	data, err := m.screenshot(ctx, name, address, width, height)
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

// photograph returns a screenshot of an address as an image.
func (m *maker) photograph(ctx context.Context, name, address string, width, height int) (image.Image, error) {
	data, err := m.screenshot(ctx, name, address, width, height)
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(data))
}

// screenshot returns a screenshot of an address as PNG.
func (m *maker) screenshot(ctx context.Context, name, address string, width, height int) ([]byte, error) {
	file := filepath.Join(m.dir, name)
	args := []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--user-data-dir=" + filepath.Join(m.dir, "chromium"),
		"--virtual-time-budget=10000", fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot=" + file}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium has no sandbox for root
	}
	for try := 1; ; try++ { // on a busy machine, Chromium sometimes waits for ever
		limited, end := context.WithTimeout(ctx, 90*time.Second)
		cmd := exec.CommandContext(limited, m.chromium, append(args, address)...)
		cmd.WaitDelay = time.Second
		out, err := cmd.CombinedOutput()
		end()
		if err == nil {
			return os.ReadFile(file)
		}
		if try == 3 || ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w: %.400s", name, err, out)
		}
	}
}

func browser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("found no Chromium in PATH: install Debian's packages chromium and fonts-dejavu-core")
}
