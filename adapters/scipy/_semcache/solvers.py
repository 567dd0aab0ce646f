"""The Krylov solvers of scipy.sparse.linalg, with vectors that stay on the devices.

A solver keeps its own source. In a second body of the function, operators become functions of vectors.py. The function
takes this body for a large right-hand side, and otherwise its own body.
"""
import ast
import copy
import inspect

from . import kept, library, vectors

NAME = "__semcache__"
# Functions and methods, and the array whose size decides.
SOLVERS = {**dict.fromkeys(("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "lsmr", "lsqr", "minres",
                            "qmr", "tfqmr"), "b"),
           "_SymmetricArpackParams.iterate": "self.resid", "_UnsymmetricArpackParams.iterate": "self.resid",
           "_fgmres": "v0", "_expm_multiply_simple_core": "B", "_expm_multiply_interval": "B",
           **dict.fromkeys((f"_expm_multiply_interval_core_{i}" for i in range(3)), "X"),
           "lobpcg": "X", "_b_orthonormalize": "blockVectorV", "_applyConstraints": "blockVectorV",
           "_matmul_inplace": "x"}
OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


class Adapter:
    """What the solvers see under NAME."""

    def __init__(self):
        for name, value in vars(vectors).items():
            if not name.startswith("_"):
                setattr(self, name, value)

    @staticmethod
    def is_large(b):
        library.look()
        return getattr(b, "size", 0) >= library.LEAST_ELEMENTS


# The place of the statement that is being rewritten: the lines of tracebacks stay those of the source.
_place = {}


def stand_at(node):
    _place.update((name, getattr(node, name)) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def member(name):
    return ast.Attribute(ast.Name(NAME, ast.Load(), **_place), name, ast.Load(), **_place)


def call(name, *arguments):
    return ast.Call(member(name), list(arguments), [], **_place)


def at_place(node):
    """An expression of the adapter, at the place of the statement."""
    for part in ast.walk(node):
        for name, value in _place.items():
            setattr(part, name, value)
    return node


def loaded(node):
    """A target as an expression."""
    node = copy.deepcopy(node)
    if hasattr(node, "ctx"):
        node.ctx = ast.Load()
    return node


def index_of(target):
    """The index of a subscript as an expression, also for slices."""
    return ast.Subscript(member("key"), target.slice, ast.Load(), **_place)


def is_change(node, kind):
    """Whether a statement is `name *= value` or `name += value`."""
    return isinstance(node, ast.AugAssign) and isinstance(node.op, kind) and isinstance(node.target, ast.Name)


def in_place_of(node, new):
    """The lines of tracebacks stay those of the source."""
    return ast.copy_location(new, node)


def is_call(node, *path):
    """Whether a node is a call of a method or function of this name, as ("np", "dot") or ("conj",)."""
    function = getattr(node, "func", None)
    return isinstance(node, ast.Call) and isinstance(function, ast.Attribute) and function.attr == path[-1] and \
        (len(path) == 1 or isinstance(function.value, ast.Name) and function.value.id == path[0])


def adjoint_of(node):
    """x of x.T.conj(), or None."""
    inner = node.func.value if is_call(node, "conj") and not node.args else None
    return inner.value if isinstance(inner, ast.Attribute) and inner.attr == "T" else None


def squared(node):
    """x of np.sum(x.conj() * x, 0), or None."""
    terms = node.args[0] if is_call(node, "np", "sum") and len(node.args) == 2 else None
    if isinstance(terms, ast.BinOp) and isinstance(terms.op, ast.Mult) and is_call(terms.left, "conj") and \
            ast.dump(node.args[1]) == ast.dump(ast.Constant(0)) and \
            ast.dump(terms.left.func.value) == ast.dump(terms.right):
        return terms.right
    return None


def is_columns(node):
    """Whether an expression is x[:, name]."""
    index = getattr(node.slice, "value", node.slice) if not isinstance(node.slice, ast.Name) else None
    parts = node.slice.dims if type(node.slice).__name__ == "ExtSlice" else getattr(index, "elts", [])
    return isinstance(node.ctx, ast.Load) and len(parts) == 2 and isinstance(parts[0], ast.Slice) and \
        not (parts[0].lower or parts[0].upper or parts[0].step) and \
        isinstance(getattr(parts[1], "value", parts[1]), ast.Name)


def last_index(node):
    """The last part of an index, in all versions of Python."""
    part = (node.slice.dims if type(node.slice).__name__ == "ExtSlice" else node.slice.elts)[-1]
    return getattr(part, "value", part)


class Rewriter(ast.NodeTransformer):
    """Operators as functions."""

    def visit(self, node):
        if isinstance(node, ast.stmt):
            stand_at(node)
        return super().visit(node)

    def operand(self, node):
        """An operand: a product stays unevaluated until its sum is known."""
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return call(OPERATORS[type(node.op)], self.operand(node.left), self.operand(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return call("neg", self.operand(node.operand))
        return self.visit(node)

    def generic_visit(self, node):
        for field in "body", "orelse":
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, self.joined(getattr(node, field)))
        return super().generic_visit(node)

    def joined(self, statements):
        """x *= a; x += b as a single operation."""
        result = []
        for node in statements:
            last = result[-1] if result else None
            if is_change(last, ast.Mult) and is_change(node, ast.Add) and last.target.id == node.target.id and \
                    last.target.id not in {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}:
                stand_at(last)
                change = call("imul_iadd", loaded(node.target), self.visit(last.value), self.operand(node.value))
                result[-1] = in_place_of(last, ast.Assign([node.target], change))
            else:
                result.append(node)
        return result

    def left(self, node):
        """The left factor of a product of matrices."""
        inner = adjoint_of(node)
        return self.visit(node) if inner is None else call("adjoint", self.visit(inner))

    def visit_BinOp(self, node):
        if isinstance(node.op, ast.MatMult):
            return call("matmul", self.left(node.left), self.visit(node.right))
        if type(node.op) not in OPERATORS:
            return self.generic_visit(node)
        return call("final", self.operand(node))

    def visit_UnaryOp(self, node):
        if not isinstance(node.op, ast.USub) or isinstance(node.operand, ast.Constant):
            return self.generic_visit(node)
        return call("final", self.operand(node))

    def visit_AugAssign(self, node):
        if type(node.op) not in OPERATORS:
            return self.generic_visit(node)
        name, value = "i" + OPERATORS[type(node.op)], self.operand(node.value)
        if isinstance(node.target, ast.Subscript):
            change = call("at_" + name, loaded(node.target.value), index_of(node.target), value)
            return in_place_of(node, ast.Expr(change))
        return in_place_of(node, ast.Assign([node.target], call(name, loaded(node.target), value)))

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        return in_place_of(node, ast.Expr(call("put", node.value, loaded(target.value), index_of(target))))

    def visit_Subscript(self, node):
        if not is_columns(node):
            return self.generic_visit(node)
        return call("columns", self.visit(node.value), self.visit(last_index(node)))

    def visit_Call(self, node):
        if is_call(node, "np", "dot") and len(node.args) == 2 and not node.keywords:
            return call("dot", self.left(node.args[0]), self.visit(node.args[1]))
        if squared(node) is not None:
            return call("squares", self.visit(squared(node)))
        if is_call(node, "np", "matmul") and len(node.keywords) == 1 and node.keywords[0].arg == "out" and \
                ast.dump(node.keywords[0].value) == ast.dump(node.args[0]):
            return call("matmul_to", *map(self.visit, node.args))
        if isinstance(node.func, ast.Name) and node.func.id == "_exact_inf_norm":
            return call("inf_norm", node.func, *map(self.visit, node.args))
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("copy", "conjugate") and not node.args and \
                not node.keywords:
            return call(function.attr, function.value)
        return node

    def visit_FunctionDef(self, node):
        return node  # a function inside of a solver


def rewritten(function, again, array):
    """The function with a second body for a large array. again: the function, parsed a second time."""
    first = 1 if ast.get_docstring(function, clean=False) is not None else 0
    own = function.body[first:]
    resident = [Rewriter().visit(statement) for statement in again.body[first:]]
    stand_at(own[0])
    test = call("is_large", at_place(ast.parse(array, mode="eval").body))
    function.body[first:] = [in_place_of(own[0], ast.If(test, resident, own))]
    return function


def functions_of(tree):
    """The functions of SOLVERS and their names, with the names of their classes."""
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = node.name + "." if isinstance(node, ast.ClassDef) else ""
        yield from ((prefix + member.name, member) for member in members
                    if isinstance(member, ast.FunctionDef) and prefix + member.name in SOLVERS)


def compiled(module):
    """The code of the module's functions of SOLVERS, by name."""
    source = inspect.getsource(module)
    return {name: compile(ast.Module([rewritten(function, again, SOLVERS[name])], []), module.__file__, "exec")
            for (name, function), (_, again) in zip(*(list(functions_of(ast.parse(source))) for _ in range(2)))}


def replace(module, name, code):
    """Puts the compiled function in the place of the module's own."""
    made = {}
    exec(code, module.__dict__, made)
    owner, _, member = name.rpartition(".")
    made[member].__qualname__ = name
    setattr(getattr(module, owner) if owner else module, member, made[member])


def patch(module):
    module.__dict__[NAME] = Adapter()
    for name, code in kept.get(module.__file__, __file__, lambda: compiled(module)).items():
        replace(module, name, code)
# SPDX-License-Identifier: BSD-2-Clause
