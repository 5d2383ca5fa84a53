// Package document parses YAML from untrusted sources. It limits the size and nesting of the text before calling the
// parser, whose memory grows with the square of the depth. It imports no other package of winnow.
package document

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits. Descriptions of runs and networks have a few kilobytes and five levels.
const (
	maxSize  = 1 << 16
	maxDepth = 64
)

// fault is an error in a text, with its place.
type fault struct {
	Token   *token.Token // nil: the place is unknown
	Message string
}

// Error returns the message with its place: ":LINE:COLUMN: message", or ": message".
func (f *fault) Error() string {
	if f.Token == nil || f.Token.Position == nil {
		return ": " + f.Message
	}
	return fmt.Sprintf(":%d:%d: %s", f.Token.Position.Line, f.Token.Position.Column, f.Message)
}

// Parse returns the root of a text with one document, or nil if the text is empty. Its errors are faults.
func Parse(text []byte) (ast.Node, error) {
	if len(text) > maxSize {
		return nil, &fault{Message: fmt.Sprintf("found %d bytes, expected at most %d", len(text), maxSize)}
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, &fault{Message: fmt.Sprintf("is not text (byte %d is 0), expected YAML", i+1)}
	}
	tokens := lexer.Tokenize(string(text))
	if err := checkDepth(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			return nil, &fault{syntax.GetToken(), syntax.GetMessage()}
		}
		return nil, &fault{Message: err.Error()}
	}
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			return nil, &fault{doc.Body.GetToken(), "found a second document, expected one"}
		}
		root = doc.Body
	}
	return root, nil
}

// checkDepth limits the number of open brackets, and the nesting by "- - -", "? ? ?" and similar marks in one line. It
// does not check indentation: nesting by indentation needs a text that grows with the square of the depth, so the limit
// on the size is enough.
func checkDepth(tokens token.Tokens) error {
	open, marks, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, marks = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			marks++
		}
		if max(open, marks) > maxDepth {
			return &fault{t, fmt.Sprintf("nested more than %d deep", maxDepth)}
		}
	}
	return nil
}
