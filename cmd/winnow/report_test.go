package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/report"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/run/measure"
)

// reportResult is the output of "winnow report --json".
type reportResult struct {
	Bytes int
	Split string
	Runs  []report.Measured
}

// TestReport checks that the page shows the numbers of result.json, eval and audit, and loads no other files.
func TestReport(t *testing.T) {
	drawnRun(t)
	result := runJSON[reportResult](t, "winnow -q report run --out r.html --json")
	page := readFile(t, "r.html")
	evaluated := runJSON[measure.Result](t, "winnow -q eval run --json")
	judged := runJSON[inspect.Report](t, "winnow -q audit run --json")
	got := result.Runs[0]
	if got.Trained.MAPAtR != evaluated.MAPAtR || got.Frozen.PrecisionAt1 != evaluated.Frozen.PrecisionAt1 ||
		got.Whitened.RPrecision != evaluated.Whitened.RPrecision ||
		got.Detection.AUROC != judged.Detection.AUROC || len(got.Classes) != 8 || result.Split != "test" ||
		result.Bytes != len(page) {
		t.Errorf("%+v, expected the results of eval and audit: %+v, %+v", got, evaluated, judged.Detection)
	}
	for _, r := range []float64{got.Frozen.PrecisionAt1, got.Whitened.PrecisionAt1, got.Trained.PrecisionAt1} {
		if want := fmt.Sprintf("<td>%.1f<div", 100*r); !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	var trained folder.Result
	if err := json.Unmarshal([]byte(readFile(t, "run", "result.json")), &trained); err != nil {
		t.Fatal(err)
	}
	v := trained.Validation.Trained
	row := fmt.Sprintf(`<th scope="row">trained</th><td>%.1f</td><td>%.1f</td><td>%.1f</td><td>%d</td>`,
		100*v.PrecisionAt1, 100*v.RPrecision, 100*v.MAPAtR, v.N)
	first := judged.Images[0]
	holds(t, page, row, "classes never seen in training: test", "On test, the trained head is ",
		`<th scope="row">length</th><td>10 epochs</td><td>20 epochs</td>`,
		`<th scope="row">filter.rate</th><td>0.33</td>`, "data:image/png", "Concentration κ",
		"Training loss and its terms", "Learning rates", "Threshold: labels with lower scores are dropped",
		fmt.Sprintf("AUROC %.4f", judged.Detection.AUROC),
		fmt.Sprintf("%d (%.1f %%) are flagged", judged.CalledWrong, 100*judged.Rate),
		"by t-SNE", "noisy.csv", `alt="image given as `+
			classnames.Readable(first.Given)+`"`, "Musgrave")
	text := regexp.MustCompile(`<header.*</header>|data:image/(jpeg|png);base64,[\w+/=&#;]*`).ReplaceAllString(page, "")
	for _, no := range []string{"losses.0.settings", "ZgotmplZ", "NaN", "http://", "https://", `<th scope="row">U+`,
		"<span>U+", `<b>U+`, `alt=""`} {
		if strings.Contains(text, no) {
			t.Errorf("the page contains %q", no)
		}
	}
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("two elements have the id %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] != 1 {
			t.Errorf("a link points to %q, which does not exist", m[1])
		}
	}
	t.Run("without", reportWithout)
	t.Run("warnings", reportWarnings)
	t.Run("names", namesEverywhere)
}

// namesEverywhere checks that with --names every command shows class names instead of labels, and files keep labels.
func namesEverywhere(t *testing.T) {
	d, err := datasets.ReadFile("noisy.csv", datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list := "class,name\n"
	for i, class := range d.Classes {
		list += fmt.Sprintf("%s,kind %d.\n", class, i)
	}
	write(t, "names.csv", list)
	name := regexp.MustCompile(`kind \d+\.`)
	shown := func(what, text string) {
		t.Helper()
		if !name.MatchString(text) {
			t.Errorf("%s shows no name", what)
		}
		for _, class := range d.Classes {
			if readable := classnames.Readable(class); strings.Contains(text, ">"+readable+"<") {
				t.Errorf("%s shows %q", what, readable)
				return
			}
		}
	}
	mustRun(t, "winnow -q report run --out n.html --no-pictures --names names.csv")
	shown("report", readFile(t, "n.html"))
	mustRun(t, "winnow -q map run --out n.svg --out n.csv --iterations 20 --names names.csv")
	shown("map", readFile(t, "n.svg"))
	shown("audit", mustRun(t, "winnow -q audit run --names names.csv --out s.csv"))
	for _, file := range []string{"n.csv", "s.csv"} {
		if name.MatchString(readFile(t, file)) {
			t.Errorf("%s contains names instead of labels", file)
		}
	}
	write(t, "names.csv", list+"nix,x\n")
	for _, command := range []string{"report run --out n.html", "map run --out n.svg",
		"audit run"} {
		fails(t, 1, `found class "nix"`, append(strings.Fields(command), "--names", "names.csv")...)
	}
}

// reportWithout checks that a page with --no-pictures needs no images.
func reportWithout(t *testing.T) {
	mustRun(t, "winnow -q report run --out bare.html --no-pictures --split validation --root nowhere")
	page := readFile(t, "bare.html")
	if strings.Contains(page, "data:image/jpeg") || strings.Contains(page, "data:image/png") ||
		!strings.Contains(page, "validation") || strings.Contains(page, "<script") {
		t.Error("the page has pictures or a script")
	}
	fails(t, 1, "--no-pictures", "report", "run", "--out", "x.html", "--root", "nowhere")
}

// reportWarnings checks that the page shows each warning of a training exactly when it applies.
func reportWarnings(t *testing.T) {
	facts, result := readFile(t, "run", folder.FactsFile), readFile(t, "run", folder.ResultFile)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile("run/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { put(folder.FactsFile, facts); put(folder.ResultFile, result) }()
	const line = "winnow -q report run --no-pictures --out w.html"
	mustRun(t, line)
	for _, no := range []string{"learn from: the batches", "gone.png", "is not finished"} {
		if strings.Contains(readFile(t, "w.html"), no) {
			t.Errorf("an unfounded warning: %q", no)
		}
	}
	put(folder.FactsFile, strings.Replace(unsealed(t, facts), `"left_out": []`,
		`"left_out": [{"path":"gone.png","reason":"is no picture"}]`, 1))
	put(folder.ResultFile, regexp.MustCompile(`"idle_steps": \d+`).ReplaceAllString(unsealed(t, result), `"idle_steps": 60`))
	mustRun(t, line)
	holds(t, readFile(t, "w.html"), "In 60 of 70 steps no loss", "Images left out because they could not be read: 1. "+
		"The first is gone.png: is no picture")
	if err := os.Remove("run/" + folder.ResultFile); err != nil {
		t.Fatal(err)
	}
	mustRun(t, line)
	if page := readFile(t, "w.html"); strings.Contains(page, "is not finished") || !strings.Contains(page,
		"was not saved: there is no result.json") {
		t.Error("the page of a finished training should only say that its result is missing")
	}
	put(folder.FactsFile, strings.Replace(unsealed(t, facts), `"steps": 70`, `"steps": 140`, 1))
	mustRun(t, line)
	if !strings.Contains(readFile(t, "w.html"), "is not finished: its log ends at step 70 of 140") {
		t.Error("the page does not say that the training is not finished")
	}
}
