"""PDF metadata for archiving and accessibility that WeasyPrint does not write."""

from __future__ import annotations

from typing import Any

UA = "http://www.aiim.org/pdfua/ns/id/"
_PROPERTY = (
    "<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>"
    "<pdfaProperty:category>internal</pdfaProperty:category>"
    "<pdfaProperty:description>part of ISO 14289</pdfaProperty:description>"
)
_SCHEMA = (
    "<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>"
    f"<pdfaSchema:namespaceURI>{UA}</pdfaSchema:namespaceURI><pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>"
    f'<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">{_PROPERTY}</rdf:li></rdf:Seq>'
    "</pdfaSchema:property>"
)
DESCRIPTION = (
    f'<rdf:Description rdf:about="" xmlns:pdfuaid="{UA}"><pdfuaid:part>1</pdfuaid:part></rdf:Description>'
    '<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" '
    'xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" '
    'xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"><pdfaExtension:schemas><rdf:Bag>'
    f'<rdf:li rdf:parseType="Resource">{_SCHEMA}</rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>'
)
"""The PDF/UA identifier, and the extension schema by which PDF/A admits it (ISO 19005-3, 6.6.2.3.2)."""


def accessible(_: Any, pdf: Any) -> None:
    """Add the PDF/UA identifier to the metadata of a PDF before WeasyPrint writes it."""
    number = int(pdf.catalog["Metadata"].split()[0])
    stream = next(each for each in pdf.objects if each.number == number)
    whole = b"".join(stream.stream)
    stream.stream = [whole.replace(b"</rdf:RDF>", DESCRIPTION.encode() + b"</rdf:RDF>", 1)]
