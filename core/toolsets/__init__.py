"""Toolsets of Sayso's own: pure logic over ports."""
