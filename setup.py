"""Packaging of rechunk: two packages, one console script, the tokenizer ranks as package data."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
VERSION = re.findall(r'VERSION = "(.+)"', (HERE / "pipelines/version.py").read_text(encoding="utf-8"))[0]

CORE = [
    "apache-beam>=2.77,<3",
    "pyarrow>=17,<26",
    "tiktoken>=0.13",
    "regex>=2024.5.15",
    "numpy>=1.26",
    "fsspec>=2025.3",
    "beautifulsoup4>=4.12",
    "soupsieve>=2.5",
    "charset-normalizer>=3.3",
    "PyYAML>=6.0.1",
    "rich>=13.7",
]
CODE = [
    "tree-sitter>=0.26,<0.27",
    "tree-sitter-python>=0.25",
    "tree-sitter-javascript>=0.25",
    "tree-sitter-typescript>=0.23",
    "tree-sitter-go>=0.25",
    "tree-sitter-java>=0.23",
    "tree-sitter-rust>=0.24",
    "tree-sitter-c>=0.24",
    "tree-sitter-cpp>=0.23",
    "tree-sitter-c-sharp>=0.23",
    "tree-sitter-ruby>=0.23",
    "tree-sitter-php>=0.24",
    "tree-sitter-bash>=0.25",
]
S3 = ["s3fs>=2025.3"]
GCS = ["gcsfs>=2025.3"]
AZURE = ["adlfs>=2024.12", "azure-storage-blob>=12.28"]
GCP = ["apache-beam[gcp]>=2.77,<3"]
FAST = ["obstore>=0.8", "toktok-rs>=0.3"]
READERS = ["deltalake>=1.6", "duckdb>=1.1", "polars>=1.20"]
DEV = [
    "apache-beam[yaml]>=2.77,<3",
    *READERS,
    *CODE,
    *S3,
    *GCS,
    *AZURE,
    *FAST,
    "moto[s3]>=5.0",
    "flask>=3.0",
    "flask-cors>=4.0",
    "pytest>=8.2",
    "pytest-xdist>=3.6",
    "hypothesis>=6.100",
    "markdown-it-py>=3.0",
    "mdit-py-plugins>=0.4",
    "jsonschema>=4.20",
    "ruff>=0.8",
    "mypy>=1.13",
    "build>=1.2",
    "types-PyYAML",
]

setup(
    name="rechunk",
    version=VERSION,
    description="Chunk a corpus into Parquet with exact offsets, and list exactly the chunks that became stale.",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["chunking", "retrieval", "embeddings", "apache-beam", "parquet"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Topic :: Text Processing",
        "Typing :: Typed",
    ],
    python_requires=">=3.11",
    packages=find_packages(str(HERE), include=["chunkers", "chunkers.*", "pipelines", "pipelines.*"]),
    include_package_data=False,  # the wheel has what is named here; MANIFEST.in says what the sdist has
    package_data={
        "chunkers": ["py.typed"],
        "chunkers.measure.encodings": ["*.tiktoken", "SHA256SUMS"],
        "pipelines": ["py.typed"],
    },
    install_requires=CORE,
    extras_require={"code": CODE, "s3": S3, "gcs": GCS, "azure": AZURE, "fast": FAST, "gcp": GCP, "dev": DEV},
    entry_points={"console_scripts": ["rechunk = pipelines.__main__:leave"]},
)
