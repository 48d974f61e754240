from tests.conformance import table

print(table())
