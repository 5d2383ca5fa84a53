package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// besideTorch names PyTorch's measurements in a cell of training, next to those of the ways.
const besideTorch = "PyTorch"

// cell is a combination of network, batch size and precision that is measured in every way.
type cell struct {
	n     *network
	batch int
	tf32  bool
}

func (c cell) precision() string {
	if c.tf32 {
		return "TF32"
	}
	return "float32"
}

// of returns the name of a measurement of the cell.
func (c cell) of(what string) []string {
	return []string{c.n.name, fmt.Sprint("batch ", c.batch), c.precision(), what}
}

// torchNames maps prefixes of network names to the names of the same networks in PyTorch, the most important first.
var torchNames = [][2]string{{"ResNet-50", "resnet50"}, {"mobilenetv2", "mobilenet_v2"}, {"ViT-S/16", "vit_small"},
	{"googlenet", "googlenet"}}

// rank returns the position of a network in torchNames, or len(torchNames) for other networks.
func (n *network) rank() int {
	i := slices.IndexFunc(torchNames, func(t [2]string) bool { return strings.HasPrefix(n.name, t[0]) })
	if i < 0 {
		return len(torchNames)
	}
	return i
}

// cells returns the cells to measure, the most important first: three networks with the usual batch, then with the
// small batch, then the fourth network, then large batches.
func (b *bench) cells(list []*network) (cells []cell) {
	list = slices.DeleteFunc(slices.Clone(list), func(n *network) bool { return n.rank() == len(torchNames) })
	few, precisions := list[:min(3, len(list))], []bool{false}
	rest := list[len(few):]
	if b.dev.Device().CUDA {
		precisions = append(precisions, true)
	}
	add := func(n *network, batch int, tf32 bool) {
		if c := (cell{n, batch, tf32}); !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	for _, n := range few {
		for _, tf32 := range precisions {
			add(n, b.steps[0], tf32)
		}
	}
	for _, batch := range b.steps[1:min(2, len(b.steps))] {
		for _, n := range few {
			add(n, batch, false)
		}
	}
	for _, n := range rest {
		add(n, b.steps[0], false)
	}
	for _, tf32 := range precisions {
		for _, batch := range b.steps {
			for _, n := range list {
				add(n, batch, tf32)
			}
		}
	}
	return cells
}

// training measures fine-tuning steps in every way and in PyTorch.
func training(b *bench) error {
	p := &pyTorch{b: b}
	defer p.close()
	if err := errors.Join(p.start(), b.open()); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	if err := p.ready(); err != nil { // wait for torch's import, which would disturb the measurements
		fmt.Fprintf(b.log, "training: %v\n", err) // each question returns this error again
	}
	var nets opened
	defer nets.close()
	late := []func() error{}
	for _, c := range b.cells(list) {
		for at, w := range ways() {
			take := func() error { return b.trainCell(&nets, c, w) }
			// The slow way is measured together with the others for the usual batch, and at the end for other batches.
			if at == len(ways())-1 && (c.tf32 || c.batch != b.steps[0]) {
				late = append(late, take)
				continue
			}
			if err := take(); err != nil {
				return err
			}
		}
		if err := b.measure(func() (Record, error) {
			return p.ask(b.question(torchNames[c.n.rank()][1], "train", c.precision(), c.batch))
		}, c.of(besideTorch)...); err != nil {
			return err
		}
	}
	for _, take := range late {
		if err := take(); err != nil {
			return err
		}
	}
	return nil
}

// trainCell measures a cell in a way.
func (b *bench) trainCell(nets *opened, c cell, w way) error {
	return b.measureWay(w, func() (Record, error) {
		began := time.Now()
		key := c.n.name + c.precision() + w.name
		t, err := nets.get(key, c.batch, func() (*trained, error) { return b.openTrained(c.n, w, c.tf32) })
		if err != nil {
			nets.close()
			return Record{}, err
		}
		opening := time.Since(began).Seconds()
		r, err := b.pace(t, c.n, c.batch)
		if err != nil {
			nets.close() // after an error the open networks may be unusable
			return r, err
		}
		r.Values["opening_s"] = opening
		return r, nil
	}, c.of(w.name)...)
}

// mostDeaths is the number of times a way may end its process before it is no longer tried.
const mostDeaths = 2

// measureWay makes a measurement unless the way has ended its process too often.
func (b *bench) measureWay(w way, take func() (Record, error), of ...string) error {
	deaths := 0
	for _, r := range b.part.Records {
		if r.Error == died && slices.Contains(r.Of, w.name) {
			deaths++
		}
	}
	if deaths >= mostDeaths {
		take = func() (Record, error) {
			return Record{}, fmt.Errorf("not tried: this way ended the process %d times", deaths)
		}
	}
	return b.measure(take, of...)
}
