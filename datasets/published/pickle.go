package published

import (
	"bytes"
	"errors"
	"fmt"
)

// pickle runs a pickle, which is a program for a small stack machine. This one runs what Python writes for
// dictionaries, lists, texts, numbers and numpy's arrays of integers. It calls nothing: the four functions it knows
// are implemented here, any other is an error.
//
// Source: Python's pickletools, protocols 2 to 5; numpy's ndarray.__reduce__.
type pickle struct {
	data  []byte
	at    int
	stack []any
	marks []int
	memo  map[int]any
	spent int // bytes allocated, at most maxLabelFile
}

// Values of a pickle besides nil, bool, int, string and []byte.
type (
	pickleTuple  []any
	pickleList   struct{ items []any }
	pickleDict   struct{ keys, values []any }
	pickleGlobal string // module.name
	pickleDType  struct{ name, order string }
	pickleArray  struct {
		shape []int
		kind  string // numpy's name, such as "<i8" or "|O"
		data  []byte
		items []any // of an array of objects
	}
)

var errPickleCut = errors.New("pickle is cut short")

// opSize is what an operation may allocate besides texts: a value and its entries on the stack, in a container and
// in the memo.
const opSize = 64

// load runs the pickle that begins at p.at to its end and returns its result.
func (p *pickle) load() (v any, err error) {
	p.stack, p.marks, p.memo = nil, nil, make(map[int]any)
	for {
		op, err := p.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return p.pop()
		}
		if err := p.spend(opSize); err != nil {
			return nil, err
		}
		if err := p.step(op[0]); err != nil {
			return nil, err
		}
	}
}

func (p *pickle) take(n int) ([]byte, error) {
	if n < 0 || n > len(p.data)-p.at {
		return nil, errPickleCut
	}
	p.at += n
	return p.data[p.at-n : p.at], nil
}

// uint reads a little-endian number of n bytes.
func (p *pickle) uint(n int) (int, error) {
	b, err := p.take(n)
	if err != nil {
		return 0, err
	}
	v := lowFirst(b, false)
	if v > 1<<62 {
		return 0, fmt.Errorf("pickle: number %d is too large", v)
	}
	return int(v), nil
}

// sized reads a length of n bytes, and that many bytes.
func (p *pickle) sized(n int) ([]byte, error) {
	size, err := p.uint(n)
	if err != nil {
		return nil, err
	}
	return p.take(size)
}

func (p *pickle) line() (string, error) {
	end := bytes.IndexByte(p.data[p.at:], '\n')
	if end < 0 {
		return "", errPickleCut
	}
	b, err := p.take(end + 1)
	return string(b[:end]), err
}

func (p *pickle) push(v any) { p.stack = append(p.stack, v) }

// pop takes the top value, which must be above the last mark.
func (p *pickle) pop() (any, error) {
	floor := 0
	if n := len(p.marks); n > 0 {
		floor = p.marks[n-1]
	}
	if len(p.stack) <= floor {
		return nil, errors.New("pickle takes a value that does not exist")
	}
	v := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	return v, nil
}

// popMark takes all values above the last mark, and the mark.
func (p *pickle) popMark() ([]any, error) {
	if len(p.marks) == 0 {
		return nil, errors.New("pickle takes a mark that does not exist")
	}
	from := p.marks[len(p.marks)-1]
	p.marks = p.marks[:len(p.marks)-1]
	items := append([]any(nil), p.stack[from:]...)
	p.stack = p.stack[:from]
	return items, nil
}

func (p *pickle) popN(n int) ([]any, error) {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		v, err := p.pop()
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, nil
}

// top returns the value on top without taking it.
func (p *pickle) top() (any, error) {
	v, err := p.pop()
	if err == nil {
		p.push(v)
	}
	return v, err
}

// fetch pushes a value from the memo.
func (p *pickle) fetch(key int, err error) error {
	v, ok := p.memo[key]
	if err == nil && !ok {
		err = fmt.Errorf("pickle takes memo %d, which is not set", key)
	}
	p.push(v)
	return err
}

// keep stores the top value in the memo.
func (p *pickle) keep(key int, err error) error {
	if err != nil {
		return err
	}
	v, err := p.top()
	p.memo[key] = v
	return err
}

// spend counts bytes to be allocated.
func (p *pickle) spend(n int) error {
	if p.spent += n; p.spent > maxLabelFile {
		return fmt.Errorf("pickle makes more than %d bytes", maxLabelFile)
	}
	return nil
}
