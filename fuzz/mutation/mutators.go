package main

import (
	"go/ast"
	"go/token"
	"math/big"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// swap is an operator and what a mutator puts in its place.
type swap struct {
	mutator string
	with    token.Token
}

// The operators' mutators are those of gremlins, with its names.
var binarySwaps = map[token.Token][]swap{
	token.ADD:     {{"arithmetic-base", token.SUB}},
	token.SUB:     {{"arithmetic-base", token.ADD}},
	token.MUL:     {{"arithmetic-base", token.QUO}},
	token.QUO:     {{"arithmetic-base", token.MUL}},
	token.REM:     {{"arithmetic-base", token.MUL}},
	token.GEQ:     {{"conditionals-boundary", token.GTR}, {"conditionals-negation", token.LSS}},
	token.GTR:     {{"conditionals-boundary", token.GEQ}, {"conditionals-negation", token.LEQ}},
	token.LEQ:     {{"conditionals-boundary", token.LSS}, {"conditionals-negation", token.GTR}},
	token.LSS:     {{"conditionals-boundary", token.LEQ}, {"conditionals-negation", token.GEQ}},
	token.EQL:     {{"conditionals-negation", token.NEQ}},
	token.NEQ:     {{"conditionals-negation", token.EQL}},
	token.LAND:    {{"invert-logical", token.LOR}},
	token.LOR:     {{"invert-logical", token.LAND}},
	token.AND:     {{"invert-bitwise", token.OR}},
	token.OR:      {{"invert-bitwise", token.AND}},
	token.XOR:     {{"invert-bitwise", token.AND}},
	token.AND_NOT: {{"invert-bitwise", token.AND}},
	token.SHL:     {{"invert-bitwise", token.SHR}},
	token.SHR:     {{"invert-bitwise", token.SHL}},
}

var assignSwaps = map[token.Token][]swap{
	token.ADD_ASSIGN:     {{"invert-assignments", token.SUB_ASSIGN}},
	token.SUB_ASSIGN:     {{"invert-assignments", token.ADD_ASSIGN}},
	token.MUL_ASSIGN:     {{"invert-assignments", token.QUO_ASSIGN}},
	token.QUO_ASSIGN:     {{"invert-assignments", token.MUL_ASSIGN}},
	token.REM_ASSIGN:     {{"invert-assignments", token.MUL_ASSIGN}},
	token.AND_ASSIGN:     {{"invert-bwassign", token.OR_ASSIGN}},
	token.OR_ASSIGN:      {{"invert-bwassign", token.AND_ASSIGN}},
	token.XOR_ASSIGN:     {{"invert-bwassign", token.AND_ASSIGN}},
	token.AND_NOT_ASSIGN: {{"invert-bwassign", token.AND_ASSIGN}},
	token.SHL_ASSIGN:     {{"invert-bwassign", token.SHR_ASSIGN}},
	token.SHR_ASSIGN:     {{"invert-bwassign", token.SHL_ASSIGN}},
}

// finder walks through a file and collects its mutants.
type finder struct {
	file    *variants.Source
	fn      *ast.FuncDecl
	mutants []*mutant
	alike   map[string]int
	nothing map[ast.Expr]bool // numbers that mean nothing
}

// findMutants returns the mutants of a file, in its order.
func findMutants(s *variants.Source) []*mutant {
	f := finder{file: s, alike: map[string]int{}, nothing: map[ast.Expr]bool{}}
	for _, decl := range s.Tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			f.fn = d
			ast.Inspect(d.Body, f.visit)
		case *ast.GenDecl:
			if f.fn = nil; d.Tok == token.CONST || d.Tok == token.VAR {
				ast.Inspect(d, f.visit)
			}
		}
	}
	return f.mutants
}

func (f *finder) add(mutator string, from, to token.Pos, with string) {
	m := &mutant{file: f.file, fn: f.fn, mutator: mutator, from: f.file.Offset(from), to: f.file.Offset(to), with: with}
	place := m.description() // without an ordinal yet
	f.alike[place]++
	m.ordinal = f.alike[place]
	f.mutants = append(f.mutants, m)
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.UnaryExpr:
		f.unary(n)
	case *ast.AssignStmt:
		f.assign(n)
	case *ast.IncDecStmt:
		with := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
		f.add("increment-decrement", n.TokPos, n.End(), with)
	case *ast.BranchStmt:
		if with := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; with != "" {
			f.add("invert-loopctrl", n.Pos(), n.Pos()+token.Pos(len(n.Tok.String())), with)
		}
	case *ast.BasicLit:
		f.number(n)
	case *ast.ReturnStmt:
		f.besideAnError(n)
	case *ast.Ident:
		if with := map[string]string{"true": "false", "false": "true"}[n.Name]; with != "" {
			f.add("invert-boolean", n.Pos(), n.End(), with)
		}
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.condition(n.Cond)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.SwitchStmt:
		f.cases(n)
	case *ast.CaseClause:
		f.statements(n.Body)
	}
	return true
}

func (f *finder) binary(n *ast.BinaryExpr) {
	for _, s := range binarySwaps[n.Op] {
		if s.with.Precedence() == n.Op.Precedence() {
			f.add(s.mutator, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), s.with.String())
			continue
		}
		// Another precedence: only the operator is to change, not what it binds.
		with := "(" + f.operand(n.X, s.with) + " " + s.with.String() + " " + f.operand(n.Y, s.with) + ")"
		f.add(s.mutator, n.Pos(), n.End(), with)
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		f.condition(n.X)
		f.condition(n.Y)
	}
}

func (f *finder) operand(e ast.Expr, of token.Token) string {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op.Precedence() < of.Precedence() {
		return "(" + f.file.Slice(e) + ")"
	}
	return f.file.Slice(e)
}

func (f *finder) unary(n *ast.UnaryExpr) {
	switch n.Op {
	case token.SUB:
		f.add("invert-negatives", n.OpPos, n.OpPos+1, "+")
	case token.NOT:
		f.add("negate-condition", n.OpPos, n.OpPos+1, "")
	case token.XOR:
		f.add("invert-bitwise", n.OpPos, n.OpPos+1, "")
	}
}

func (f *finder) assign(n *ast.AssignStmt) {
	for _, s := range assignSwaps[n.Tok] {
		end := n.TokPos + token.Pos(len(n.Tok.String()))
		f.add(s.mutator, n.TokPos, end, s.with.String())
		f.add("remove-self-assignments", n.TokPos, end, "=")
	}
}

// condition negates what no operator's mutator does: a call, a variable.
func (f *finder) condition(e ast.Expr) {
	switch e.(type) {
	case *ast.CallExpr, *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		f.add("negate-condition", e.Pos(), e.Pos(), "!")
	}
}

func (f *finder) cases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, clause := range n.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			f.condition(e)
		}
	}
}

// statements removes what can go by itself: calls, assignments, bare returns.
func (f *finder) statements(list []ast.Stmt) {
	for _, stmt := range list {
		switch s := stmt.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		default:
			continue
		}
		f.add("remove-statement", stmt.Pos(), stmt.End(), "")
	}
}

// besideAnError finds the numbers of a return whose last result is an error:
// a caller must not look at them.
func (f *finder) besideAnError(n *ast.ReturnStmt) {
	if f.fn == nil || len(n.Results) < 2 || f.file.Slice(n.Results[len(n.Results)-1]) == "nil" {
		return
	}
	types := f.fn.Type.Results.List
	switch f.file.Slice(types[len(types)-1].Type) {
	case "error", "*Error":
		for _, r := range n.Results {
			f.nothing[r] = true
		}
	}
}

// number adds one to an integer.
func (f *finder) number(n *ast.BasicLit) {
	if f.nothing[n] {
		return
	}
	if v, ok := new(big.Int).SetString(n.Value, 0); ok && n.Kind == token.INT {
		f.add("change-number", n.Pos(), n.End(), v.Add(v, big.NewInt(1)).String())
	}
}
