"""Reads protobuf text format, as far as the conformance cases use it: a message is a mapping of names to lists."""

import re

TOKEN = re.compile(
    r"""\s+|\#[^\n]*"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<extension>\[[A-Za-z_][\w./-]*\])"""
    r"""|(?P<word>-?[A-Za-z_][\w.]*|-?\.?\d[\w.+-]*)"""
    r"""|(?P<mark>[{}<>\[\]:;,])"""
)
ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
CLOSING = {"{": "}", "<": ">"}


def read(text):
    """Return the message that the text holds. Texts are bytes, numbers and names are words."""
    tokens = list(_tokens(text))
    message, rest = _message(tokens, 0, None)
    assert rest == len(tokens)
    return message


def _tokens(text):
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        assert found, f"unreadable at {text[position : position + 40]!r}"
        position = found.end()
        if found.lastgroup:
            yield found.lastgroup, found.group(found.lastgroup)


def _message(tokens, index, closing):
    fields = {}
    while index < len(tokens) and tokens[index] != ("mark", closing):
        kind, name = tokens[index]
        if kind == "mark":
            assert name in ";,", name
            index += 1
            continue
        values, index = _value(tokens, index + 1)
        fields.setdefault(name, []).extend(values)
    return fields, index if closing is None else index + 1


def _value(tokens, index):
    if tokens[index] == ("mark", ":"):
        index += 1
    kind, token = tokens[index]
    if kind == "text":
        return _texts(tokens, index)
    if kind == "word":
        return [token], index + 1
    if token == "[":
        return _list(tokens, index + 1)
    message, index = _message(tokens, index + 1, CLOSING[token])
    return [message], index


def _list(tokens, index):
    values = []
    while tokens[index] != ("mark", "]"):
        if tokens[index] == ("mark", ","):
            index += 1
            continue
        more, index = _value(tokens, index)
        values += more
    return values, index + 1


def _texts(tokens, index):
    whole = b""
    while index < len(tokens) and tokens[index][0] == "text":
        whole += ESCAPE.sub(_unescaped, tokens[index][1][1:-1].encode())
        index += 1
    return [whole], index


def _unescaped(found):
    octal, byte, short, long, other = found.groups()
    if octal:
        return bytes([int(octal, 8)])
    if byte:
        return bytes([int(byte, 16)])
    if short or long:
        return chr(int(short or long, 16)).encode()
    return SIMPLE.get(other, other)
