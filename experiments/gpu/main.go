// Command gpu runs and measures all functions of winnow that use a GPU: see README.md. With -device cpu it runs them on
// the CPU, to test the program without a GPU. Each part is a separate process, which may crash, hang or fill the GPU's
// memory without affecting the others. A part writes each measurement to OUT/parts at once and does not repeat it.
// OUT/gpu.json is written after each part.
//
//	go -C experiments run ./gpu -device cuda -out ../gpu-results
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"winnow/backbone/ort"
)

// options holds the parsed flags. The process of a part gets the same flags.
type options struct {
	device  string
	minutes float64
	out     string
	small   bool
	models  string
	library string
	python  string
	only    string
	nets    string

	part  string // the part that this process runs; "": all
	until int64  // Unix time in milliseconds at which it must end
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start is the program; it returns the exit code.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := read(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 2
	case err != nil:
	case o.part == probePart:
		return probe(o, stdout)
	case o.part != "":
		return runPart(ctx, o, stderr)
	default:
		err = runAll(ctx, o, args, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func read(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("gpu", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.device, "device", "cuda", "device to measure: cuda, cuda:N, or cpu for a trial run")
	f.Float64Var(&o.minutes, "minutes", 40, "time for all parts; the next call measures the rest")
	f.StringVar(&o.out, "out", "gpu-results", "folder for gpu.json and parts/")
	f.BoolVar(&o.small, "small", false, "use small networks and sets, for a trial run of seconds")
	f.StringVar(&o.models, "models", "../../shared/assets/models",
		"folder of pretrained .onnx networks to measure in addition to those with random weights; \"\": none")
	f.StringVar(&o.library, "ort-lib", os.Getenv("WINNOW_ORT_LIB"), "ONNX Runtime's library, or its folder")
	f.StringVar(&o.python, "python", "python3", "Python with torch, to compare with PyTorch; \"\": no comparison")
	f.StringVar(&o.only, "only", "", "parts to run, separated by commas: "+strings.Join(partNames(), ","))
	f.StringVar(&o.nets, "networks", "",
		"networks to measure: prefixes of names, separated by commas, such as ResNet-50,mobilenetv2; \"\": all")
	f.StringVar(&o.part, "part", "", "for the program's own use: the part that this process runs")
	f.Int64Var(&o.until, "until", 0, "for the program's own use: when the part must end")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("gpu: found the argument %q, expected none", f.Arg(0))
	}
	if d, err := ort.ParseDevice(o.device); o.part == "" && (err != nil || d.Auto) {
		return o, fmt.Errorf("gpu: -device: found %q, expected cuda, cuda:N or cpu", o.device)
	}
	if !(o.minutes > 0) {
		return o, fmt.Errorf("gpu: -minutes: found %v, expected more than 0", o.minutes)
	}
	for name := range strings.SplitSeq(o.only, ",") {
		if name != "" && partBy(name) == nil {
			return o, fmt.Errorf("gpu: -only: found %q, expected some of %s", name, strings.Join(partNames(), ","))
		}
	}
	return o, nil
}

// end returns the time at which the process of a part must end.
func (o options) end() time.Time { return time.UnixMilli(o.until) }
