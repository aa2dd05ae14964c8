package layout

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// expression is a compiled expression. Its value is an int64, a bool or a string; that of a name
// may be anything.
type expression func(*scope) any

var token = regexp.MustCompile(`^\s*(\d+|[A-Za-z_][A-Za-z_0-9]*(?:\.[a-z_0-9]+)?|'[a-z_0-9]*'|<=|>=|!=|>>|[-+*/()<>=,^])`)

// parser reads an expression. It panics for one that is none: formats.json is part of the program.
type parser struct {
	text   string
	tokens []string
}

func compile(text string) expression {
	p := &parser{text: text}
	for rest := strings.TrimSpace(text); rest != ""; {
		m := token.FindStringSubmatch(rest)
		if m == nil {
			p.fail()
		}
		p.tokens = append(p.tokens, m[1])
		rest = strings.TrimSpace(rest[len(m[0]):])
	}
	e := p.or()
	if len(p.tokens) > 0 {
		p.fail()
	}
	return e
}

func (p *parser) fail() { panic(fmt.Sprintf("layout: %q is no expression", p.text)) }

// take takes the next token if it is one of these.
func (p *parser) take(list ...string) string {
	if len(p.tokens) == 0 {
		return ""
	}
	for _, t := range list {
		if p.tokens[0] == t {
			p.tokens = p.tokens[1:]
			return t
		}
	}
	return ""
}

func (p *parser) need(t string) {
	if p.take(t) == "" {
		p.fail()
	}
}

func (p *parser) or() expression {
	a := p.and()
	for p.take("or") != "" {
		left, right := a, p.and()
		a = func(s *scope) any { return truth(left(s)) || truth(right(s)) }
	}
	return a
}

func (p *parser) and() expression {
	a := p.not()
	for p.take("and") != "" {
		left, right := a, p.not()
		a = func(s *scope) any { return truth(left(s)) && truth(right(s)) }
	}
	return a
}

func (p *parser) not() expression {
	if p.take("not") == "" {
		return p.comparison()
	}
	e := p.not()
	return func(s *scope) any { return !truth(e(s)) }
}

// comparison is a row of comparisons, of which all must hold.
func (p *parser) comparison() expression {
	a := p.sum()
	var all expression
	for {
		op := p.take("<", "<=", "=", "!=", ">=", ">")
		if op == "" {
			break
		}
		left, right, before := a, p.sum(), all
		a = right
		all = func(s *scope) any {
			return (before == nil || truth(before(s))) && compare(op, left(s), right(s))
		}
	}
	if all == nil {
		return a
	}
	return all
}

func compare(op string, a, b any) bool {
	switch op {
	case "=":
		return a == b
	case "!=":
		return a != b
	}
	x, y := number(a), number(b)
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

// number and truth are the values of expressions whose operands may be of another type while JSON
// is read, which is refused then.
func number(v any) int64 {
	n, _ := v.(int64)
	return n
}

func truth(v any) bool {
	is, _ := v.(bool)
	return is
}

func (p *parser) sum() expression {
	return p.row(p.product, "+", "-")
}

func (p *parser) product() expression {
	return p.row(p.power, "*", "/", "mod", ">>")
}

func (p *parser) power() expression {
	return p.row(p.unary, "^")
}

// row is a row of operations of the same strength.
func (p *parser) row(operand func() expression, ops ...string) expression {
	a := operand()
	for {
		op := p.take(ops...)
		if op == "" {
			return a
		}
		left, right := a, operand()
		a = func(s *scope) any { return operate(op, number(left(s)), number(right(s))) }
	}
}

func operate(op string, a, b int64) int64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "mod":
		return (a%b + b) % b
	case ">>":
		return a >> b
	}
	return 1 << b // 2^b: there is no other base
}

func (p *parser) unary() expression {
	if len(p.tokens) == 0 {
		p.fail()
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch {
	case t == "(":
		e := p.or()
		p.need(")")
		return e
	case t[0] >= '0' && t[0] <= '9':
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil {
			p.fail()
		}
		if len(p.tokens) > 0 && p.tokens[0] == "^" && n != 2 {
			p.fail()
		}
		return func(*scope) any { return n }
	case t[0] == '\'':
		name := strings.Trim(t, "'")
		return func(*scope) any { return name }
	case p.take("(") != "":
		return p.call(t)
	}
	return func(s *scope) any { return s.get(t) }
}

// call is a call of a function.
func (p *parser) call(name string) expression {
	f, ok := functions[name]
	if !ok {
		p.fail()
	}
	var args []expression
	for p.take(")") == "" {
		args = append(args, p.or())
		p.take(",")
	}
	return func(s *scope) any {
		var list []any
		for _, a := range args {
			list = append(list, a(s))
		}
		return f(s, list)
	}
}
