"""Bring what `export_site` wrote of a site into this installation, beside the sites that it has.

Rows get new numbers here. Which number a row of the file got stands in a small database on disk, so
that memory stays bounded and a row can name only what came with it: never a row of another site.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import (
    Any,
    Final,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import orjson
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, models, transaction
from django.utils import timezone

from annotation.algorithms.anchors.node_paths import read_path
from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Attribute, Vertical
from annotation.services.verticals.verticals import problems_of, save_vertical
from clustering.dom.addresses import url_hash
from clustering.models import Page
from clustering.services.pages.archives import MAX_RATIO, SUSPECT_UNPACKED, check_directory
from clustering.services.sites import site_export
from clustering.services.sites.sites import SETTINGS, SiteExists, add_new_site
from monitoring.algorithms.site_change import ClusterVerdict
from rules.algorithms.by_hand.sandbox import read_stylesheet
from rules.services.records.record_upserts import take_numbers
from vertex.core.models import Job, Site, User
from vertex.core.models.bodies import BodyField
from vertex.core.models.sites import SITE_NAME
from vertex.core.services.files import uploads
from vertex.core.services.files.files import UnreadableFile, check_exists, regular_file
from vertex.core.services.jobs.jobs import JobFailed, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.services.jobs.step_limits import begin_step
from vertex.core.services.people import audit
from vertex.core.storage import MAX_BYTES, DiskFull, page_store
from vertex.core.texts import storable

# In this order: a row names rows of the models before its own, but for COLUMNS_WRITTEN_LATER.
CARRIED: Final = (
    "clustering.page",
    "clustering.snapshot",
    "clustering.link",
    "clustering.searchclick",
    "clustering.asset",
    "clustering.snapshotassets",
    "clustering.cluster",
    "clustering.clusteranswer",
    "clustering.clustering",
    "clustering.clusterfigures",
    "clustering.clusterlayout",
    "clustering.pagemembership",
    "clustering.clusterchange",
    "clustering.clusterreview",
    "clustering.clusterdoubt",
    "annotation.reviewpolicy",
    "annotation.assignment",
    "annotation.sample",
    "annotation.annotation",
    "annotation.secondannotation",
    "annotation.comment",
    "annotation.effort",
    "rules.rule",
    "rules.rulesample",
    "rules.bellwether",
    "rules.goldenrecord",
    "rules.review",
    "rules.judgedpage",
    "rules.borrowedrule",
    "rules.extraction",
    "monitoring.sitethresholds",
    "monitoring.errorpage",
    "monitoring.schedule",
    "monitoring.keptlist",
    "monitoring.check",
    "monitoring.checkedpage",
    "monitoring.sitechange",
    "monitoring.chainstep",
    # Last: from the first of them on, nobody else can number a change.
    "rules.record",
    "rules.recordversion",
)
# Written of a page once its snapshots and the other pages are there.
COLUMNS_WRITTEN_LATER: Final = {"clustering.page": ("redirects_to_id", "latest_snapshot_id")}
# What a row may name and what stays behind: work, and what fetching is about.
LEFT_BEHIND: Final = frozenset({"core.job", "clustering.host", "monitoring.slot"})
# Nothing is fetched before somebody here asks for it.
AS_HERE: Final[dict[str, dict[str, Any]]] = {
    "monitoring.schedule": {"is_active": False, "next_at": None},
    "monitoring.keptlist": {"is_active": False, "next_at": None},
    "monitoring.check": {"again_at": None},
}
ADDRESSES: Final = frozenset({"url", "given_url", "requested_url", "final_url", "details_url"})
# Learning asks pages for them; what else an XPath could ask may take minutes.
PATHS_OF_NODES: Final = frozenset({"xpath", "end_xpath"})
LARGEST: Final = 1e12  # of a share, a count, seconds
MEMBER: Final = re.compile(
    r"manifest\.jsonl|export\.json|rows/[a-z]+\.[a-z]+\.jsonl"
    r"|pages/[0-9a-f]{64}\.html|assets/[0-9a-f]{64}\.bin"
)
BODY_NAME: Final = re.compile(r"[0-9a-f]{64}")
ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
MAX_FILES: Final = 5_000_000  # in an export: a body each, and few others
MAX_DIRECTORY: Final = 1024 * 1024 * 1024  # bytes of the list of these files
MAX_DESCRIPTION: Final = 1024 * 1024  # bytes
MAX_LINE: Final = 64 * 1024 * 1024  # bytes of a row
MAX_NAMED: Final = 10_000  # verticals, attributes or people
ROWS_AT_ONCE: Final = 1_000
BYTES_AT_ONCE: Final = 16 * 1024 * 1024  # of rows or bodies
BODIES_PER_RENEWAL: Final = 100
# What contents that are damaged or made up raise on the way to the database.
DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,  # a compression that nobody writes
    RuntimeError,  # an encrypted file
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    sqlite3.Error,
    ValidationError,
    DataError,
    IntegrityError,
)

# Asked for the number that a row of a model got here, by its number in the file.
NewNumber = Callable[[str, int], int | None]
Row = dict[str, Any]


class _Failed(TypedDict):
    """A value that a rule no longer gives, as `FailedField` writes it."""

    attribute: str
    was: Any
    now: Any
    kind: str


class _Example(TypedDict):
    """A page that lost values."""

    url: str
    failed: list[_Failed]


class _Evidence(TypedDict, total=False):
    """What a site change rests on, beside the verdict."""

    example: _Example | None
    rules_share: float


class _Report(TypedDict, total=False):
    """What a site change was, once it is over."""

    text: str
    attributes: dict[str, int]
    hours_unseen_at_most: float | None
    hours_open: float
    n_pages: int
    n_held: int
    n_human_steps: int
    machine_seconds: int
    n_values_found: int
    n_pages_found: int


class _Signs(TypedDict, total=False):
    """What else a check saw on a page."""

    vanished: list[str]
    displaced: list[str]
    had: list[str]
    lost: list[str]
    gone: list[str]
    form_likeness: float
    has_other_values: bool


class _Move(TypedDict):
    """Pages that a person moved."""

    pages: list[int]


class _Split(TypedDict):
    """Pages by the clusters that a cluster was split into."""

    parts: dict[str, list[int]]


Texts: TypeAlias = str | list[str | None]
Lines: TypeAlias = list[dict[str, Any]]
# The forms in which columns of JSON are read back. The others are an object or a list, as
# by default.
FORMS: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "annotation.annotation": {"record": (list[str],)},
    "clustering.clusteranswer": {"left": (list[str],), "right": (list[str],)},
    "clustering.clusterdoubt": {"why": (list[str],)},
    "clustering.clusterlayout": {"has": (list[str],), "lacks": (list[str],)},
    "monitoring.check": {
        "layouts": (list[str],),
        "broken": (list[str],),
        "warnings": (list[str],),
        "clusters": (list[ClusterVerdict],),
        "thresholds": (dict[str, float],),
    },
    "monitoring.checkedpage": {"failed": (list[_Failed],), "signs": (_Signs,)},
    "monitoring.errorpage": {"words": (list[int],)},
    "monitoring.sitechange": {"evidence": (ClusterVerdict, _Evidence), "report": (_Report,)},
    "rules.goldenrecord": {"records": (Lines,)},
    "rules.judgedpage": {"records": (Lines,), "marked": (list[str],)},
    "rules.record": {
        "values": (dict[str, Texts],),
        "raw": (dict[str, Texts],),
        "nodes": (dict[str, Texts],),
        "missing": (list[str],),
        "failed": (dict[str, str],),
        "problems": (dict[str, str],),
        "confidence": (dict[str, float],),
    },
    "rules.recordversion": {"values": (dict[str, Texts],)},
}
DETAIL_BY_KIND: Final[dict[str, type]] = {"move": _Move, "split": _Split}  # of changes of clusters


class NotAnExport(Exception):
    """The file is no export of a site that this version can take."""


class VerticalDiffers(Exception):
    """Another vertical has a name that the export uses."""


@dataclass
class ImportedSite:
    """What an import came to."""

    site: Site
    n_rows: dict[str, int] = field(default_factory=dict)  # by model
    n_bodies: int = 0
    n_missing: int = 0  # bodies that the export could not read

    def as_result(self) -> dict[str, Any]:
        """Return the figures of the job that imported it."""
        return {
            "site": self.site.name,
            "pages": self.n_rows.get("clustering.page", 0),
            "rows": sum(self.n_rows.values()),
            "bodies": self.n_bodies,
            "missing": self.n_missing,
        }


@dataclass
class _Export:
    """An export that is open and was checked, as far as that goes without reading its rows."""

    archive: zipfile.ZipFile
    described: Row  # the site
    name: str  # that it gets here


def upload_site(
    *, chunks: Iterable[bytes], file_name: str, name: str = "", actor: User | None = None
) -> Job:
    """Keep an uploaded export and create the job that adds its site.

    Raises ValidationError, SiteExists, UploadTooLarge, DiskFull.
    """
    path = uploads.keep_upload(chunks=chunks, name=file_name)
    try:
        return enqueue(import_request(source=path, name=name), actor=actor)
    except BaseException:  # no job will read the upload: it must not stay
        uploads.drop_upload(path)
        raise


def import_request(*, source: Path, name: str = "") -> JobRequest:
    """Describe the import of an export; without a name its site is called as it was there.

    Raises UnreadableFile, ValidationError, SiteExists.
    """
    check_exists(source)
    if name:
        SITE_NAME(name)
        _refuse_taken_name(name)
    return JobRequest(
        kind=IMPORT_SITE,
        title=f"Import the site of {storable(source.name)}",
        params={"source": str(source.absolute()), "name": name},
        key=f"import_site:{source.absolute()}",
    )


def run_import(run: JobRun) -> dict[str, Any]:
    """Add the site of the job's export.

    It is there, and the job done, by one transaction: a worker that goes on after another one was
    killed stores the same bodies again, and adds no second site. Raises JobFailed.
    """
    path = Path(run.job.params["source"])
    try:
        with _opened(path, run.job.params["name"]) as export, page_store().held():
            run.renew(n_total=len(_bodies_of(export.archive)), message="storing pages")
            bodies = _import_bodies(export.archive, _renewing(run))
            run.renew(message="adding the site")
            with transaction.atomic():
                with run.kept_alive():
                    outcome = _import_rows(export, bodies, begin_step, run.job.created_by)
                result = outcome.as_result()
                run.held.update(site=outcome.site)  # whose page the job leads to from now on
                run.finish(result)
    except (NotAnExport, VerticalDiffers, SiteExists, DiskFull) as error:
        raise JobFailed(str(error)) from None
    uploads.drop_upload(path)
    return result


IMPORT_SITE = JobKind("vertex.import_site", Job.Queue.KEEP, run_import)


def import_site(
    file: Path, *, name: str = "", report: Callable[[], object] = lambda: None
) -> ImportedSite:
    """Add the site of an export, under its own name or another, whole or not at all.

    1. Store the bodies, each under the hash of its bytes.
    2. In one transaction, add site, people and verticals, then the rows with new numbers.

    People are matched by user name; of others an account is made that is closed. `report` is called
    for each part. Raises NotAnExport, VerticalDiffers, SiteExists, DiskFull, StoreAway.
    """
    with _opened(file, name) as export, page_store().held():
        bodies = _import_bodies(export.archive, report)
        with transaction.atomic():
            return _import_rows(export, bodies, report)


@contextmanager
def _opened(file: Path, name: str) -> Iterator[_Export]:
    """Open an export whose site gets a name, or keeps its own. Raises NotAnExport if it is flawed.

    Raises SiteExists where there is a site of that name.
    """
    try:
        with regular_file(file) as raw:
            label = storable(file.name)
            check_directory(raw, label, max_entries=MAX_FILES, max_directory=MAX_DIRECTORY)
            with zipfile.ZipFile(raw) as archive:
                _check_members(archive, n_packed=file.stat().st_size)
                _check_description(archive)
                (described,) = _few_rows(archive, Site)
                name = name or described["name"]
                _refuse_taken_name(name)
                yield _Export(archive, described, name)
    except UnreadableFile as error:
        raise NotAnExport(str(error)) from None
    except DAMAGED as error:
        why = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        why = why or type(error).__name__
        raise NotAnExport(f"{storable(file.name)} is not taken: {why}") from None


def _renewing(run: JobRun) -> Callable[[], None]:
    """Return what renews the lease of a job once in a while, when it is called for each body."""
    n_bodies = 0

    def renew() -> None:
        nonlocal n_bodies
        n_bodies += 1
        if n_bodies % BODIES_PER_RENEWAL == 0:
            run.renew(n_done=n_bodies)

    return renew


def _refuse_taken_name(name: str) -> None:
    """Raise SiteExists where a site has the name."""
    namesake = Site.objects.filter(name=name).first()
    if namesake is not None:
        raise SiteExists(namesake)


def _check_members(archive: zipfile.ZipFile, *, n_packed: int) -> None:
    """Refuse files that no export has, and more bytes than one could have or the disk takes."""
    names = archive.namelist()
    strange = next((name for name in names if not MEMBER.fullmatch(name)), None)
    if strange is not None:
        raise ValueError(f"an export has no file {strange[:100]!a}")
    if len(names) != len(set(names)):
        raise ValueError("a file is in it twice")
    known = {f"rows/{model._meta.label_lower}.jsonl" for model, _ in site_export.models_of_a_site()}
    known |= {f"rows/{label}.jsonl" for label in site_export.NAMED}
    unknown = {name for name in names if name.startswith("rows/")} - known
    if unknown:
        raise ValueError(f"no rows of a site are called {min(unknown)}")
    needed = (*CARRIED, *site_export.NAMED, "core.site")
    missing = {f"rows/{label}.jsonl" for label in needed} - set(names)
    if missing:
        raise ValueError(f"{min(missing)} is not in it; export the site anew")
    n_bytes = sum(member.file_size for member in archive.infolist())
    if n_bytes > SUSPECT_UNPACKED and n_bytes > MAX_RATIO * n_packed:
        raise ValueError(f"its {n_packed:,} bytes would unpack to {n_bytes:,}; refused as a bomb")
    n_free = shutil.disk_usage(settings.VAR_DIR).free
    if n_bytes > n_free:
        raise ValueError(f"it unpacks to {n_bytes >> 20:,} MB, and {n_free >> 20:,} MB are free")


def _check_description(archive: zipfile.ZipFile) -> None:
    """Raise ValueError where another version wrote the file."""
    description = orjson.loads(_read(archive, "export.json", MAX_DESCRIPTION))
    if description["format"] != site_export.FORMAT:
        raise ValueError(
            f"its format is {description['format']!r:.20}, this version takes {site_export.FORMAT}"
        )
    if description["migrations"] != site_export.applied_migrations():
        raise ValueError(
            "another version wrote it; bring both installations to the same version, "
            "then export anew"
        )


def _import_bodies(archive: zipfile.ZipFile, report: Callable[[], object]) -> set[str]:
    """Store all bodies and return their names."""
    stored: set[str] = set()
    batch: dict[str, bytes] = {}
    for member in _bodies_of(archive):
        batch[Path(member).stem] = _read(archive, member, MAX_BYTES)
        if sum(map(len, batch.values())) > BYTES_AT_ONCE or len(batch) == ROWS_AT_ONCE:
            stored |= _store(batch)
            batch = {}
        report()
    return stored | _store(batch)


def _bodies_of(archive: zipfile.ZipFile) -> list[str]:
    """Return the files of an export that hold bodies."""
    return [name for name in archive.namelist() if name.startswith(("pages/", "assets/"))]


def _store(body_by_name: Mapping[str, bytes]) -> set[str]:
    """Store bodies that are what their names say; one that is not is refused."""
    names_here = page_store().put_many(body_by_name.values())
    for name, name_here in zip(body_by_name, names_here, strict=True):
        if name != name_here:
            raise ValueError(f"the body {name} is not what its name says")
    return set(body_by_name)


def _import_rows(
    export: _Export, bodies: set[str], report: Callable[[], object], actor: User | None = None
) -> ImportedSite:
    """Add the site with all its rows, in the caller's transaction."""
    archive = export.archive
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True)
    with (
        # Where the sweep deletes it if the process is killed.
        tempfile.TemporaryDirectory(dir=settings.UPLOAD_DIR) as folder,
        closing(_Numbers(Path(folder) / "numbers.sqlite3")) as numbers,
    ):
        numbers.keep("core.user", _bring_people(archive))
        _bring_verticals(archive, numbers)
        site = _add_site(export.described, export.name, numbers)
        outcome = ImportedSite(site, n_bodies=len(bodies))
        for label in CARRIED:
            model = apps.get_model(label)
            for rows in _batches(archive, model):
                outcome.n_rows[label] = outcome.n_rows.get(label, 0) + len(rows)
                outcome.n_missing += _insert(model, rows, numbers, bodies)
                report()
        for label, names in COLUMNS_WRITTEN_LATER.items():
            for rows in _batches(archive, apps.get_model(label)):
                _update(apps.get_model(label), rows, names, numbers)
    Site.objects.filter(pk=site.pk).update(n_pages=Page.objects.filter(site=site).count())
    audit.record(
        actor=actor, action="site.imported", subject=site.name, site=site, detail=outcome.n_rows
    )
    return outcome


class _Numbers:
    """Which number each row of the file got here, kept on disk."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE numbers (model TEXT, old INTEGER, new INTEGER, PRIMARY KEY (model, old))"
            " WITHOUT ROWID"
        )

    def keep(self, model: str, new_by_old: Iterable[tuple[int, int]]) -> None:
        """Keep the numbers of rows. Raises sqlite3.IntegrityError if the file has a row twice."""
        rows = ((model, _number(old), new) for old, new in new_by_old)
        self._database.executemany("INSERT INTO numbers VALUES (?, ?, ?)", rows)

    def of(self, model: str, old: Collection[int]) -> dict[int, int]:
        """Return the new numbers of those rows that the file has."""
        wanted = orjson.dumps([_number(number) for number in old]).decode()
        return dict(
            self._database.execute(
                # The cross join keeps the order: each number asked for is looked up.
                "SELECT old, new FROM json_each(?) CROSS JOIN numbers ON old = value AND model = ?",
                (wanted, model),
            )
        )

    def close(self) -> None:
        self._database.close()


def _number(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r:.40} is no number of a row")
    return value


def _bring_people(archive: zipfile.ZipFile) -> Iterator[tuple[int, int]]:
    """Yield the numbers of people in the file and here; who is not here gets a closed account."""
    for row in _few_rows(archive, User, site_export.FIELDS_OF_PEOPLE):
        person = User.objects.filter(username__iexact=row["username"]).first()
        if person is None:
            names = {
                name: _value(User._meta.get_field(name), row[name])
                for name in site_export.FIELDS_OF_PEOPLE[1:]
            }
            person = User(**names, is_active=False, closed_at=timezone.now())
            person.set_unusable_password()
            person.save()
        yield row["id"], person.pk


def _bring_verticals(archive: zipfile.ZipFile, numbers: _Numbers) -> None:
    """Find or add the verticals with their attributes. Raises VerticalDiffers."""
    attributes_of: dict[int, list[Row]] = defaultdict(list)
    for attribute in _few_rows(archive, Attribute):
        attributes_of[attribute["vertical_id"]].append(attribute)
    for row in _few_rows(archive, Vertical):
        attributes = sorted(
            attributes_of[row["id"]], key=lambda attribute: _number(attribute["position"])
        )
        vertical = _bring_vertical(row, attributes)
        number_by_name = dict(vertical.attributes.values_list("name", "pk"))
        numbers.keep("annotation.vertical", [(row["id"], vertical.pk)])
        numbers.keep(
            "annotation.attribute",
            [(attribute["id"], number_by_name[attribute["name"]]) for attribute in attributes],
        )


def _bring_vertical(row: Row, attributes: list[Row]) -> Vertical:
    """Return the vertical of this name; one that is there must have the same attributes."""
    wanted = [_type_of(attribute) for attribute in attributes if attribute["dropped_at"] is None]
    vertical = Vertical.objects.filter(name=row["name"]).first()
    if vertical is None:
        vertical = save_vertical(
            name=row["name"], attributes=wanted, description=row["description"], actor=None
        )
        as_written = {
            name: _value(Vertical._meta.get_field(name), row[name])
            for name in ("version", "created_at")
        }
        Vertical.objects.filter(pk=vertical.pk).update(**as_written)
    elif vertical.attribute_types() != wanted:
        here = {attribute.name: attribute for attribute in vertical.attribute_types()}
        there = {attribute.name: attribute for attribute in wanted}
        names = sorted(name for name in here | there if here.get(name) != there.get(name))
        raise VerticalDiffers(
            f"this installation has another vertical “{vertical.name}”: "
            f"{', '.join(names) or 'the order of its attributes'} differ. Make both the same,"
            " then import again"
        )
    for attribute in attributes:
        if attribute["dropped_at"] is not None:
            _keep_dropped(vertical, attribute)
    return vertical


def _keep_dropped(vertical: Vertical, row: Row) -> None:
    """Add an attribute that was dropped, for the annotations that name it."""
    names = [each.attname for each in site_export.exported_fields(Attribute)]
    values = {
        name: _value(Attribute._meta.get_field(name), row[name])
        for name in names
        if name not in {"id", "vertical_id", "name"}
    }
    name = _value(Attribute._meta.get_field("name"), row["name"])
    Attribute.objects.get_or_create(vertical=vertical, name=name, defaults=values)


def _type_of(row: Row) -> AttributeType:
    names = ("name", "type", "is_constant", "is_mandatory", "is_multi", "regex")
    return AttributeType(**{name: row[name] for name in names})


def _add_site(described: Row, name: str, numbers: _Numbers) -> Site:
    """Add the site with its settings; who may see it is decided here."""
    options = {setting: described[setting] for setting in SETTINGS}
    site = add_new_site(name=name, root_url=described["root_url"], actor=None, **options)
    numbers.keep("core.site", [(described["id"], site.pk)])
    created_by = described["created_by_id"]
    if created_by is not None:
        site.created_by_id = numbers.of("core.user", [created_by])[created_by]
    for moment in ("created_at", "last_snapshot_at"):
        setattr(site, moment, _value(Site._meta.get_field(moment), described[moment]))
    site.save()
    return site


def _insert(model: type[models.Model], rows: list[Row], numbers: _Numbers, bodies: set[str]) -> int:
    """Insert rows and return how many of their bodies did not come."""
    label = model._meta.label_lower
    later = dict.fromkeys(COLUMNS_WRITTEN_LATER.get(label, ()))
    changes = later | AS_HERE.get(label, {})
    instances = [
        _instance(model, row)
        for row in _renumbered(model, [row | changes for row in rows], numbers)
    ]
    if label == "rules.record":
        for instance, number in zip(instances, take_numbers(len(instances)), strict=True):
            instance.change_number = number  # type: ignore[attr-defined]  # a Record
    # Without its own number a row gets a new one.
    added = model._default_manager.bulk_create(instances)
    numbers.keep(label, [(row["id"], new.pk) for row, new in zip(rows, added, strict=True)])
    names = [each.name for each in model._meta.concrete_fields if isinstance(each, BodyField)]
    named = (getattr(instance, name) for instance in instances for name in names)
    return sum(1 for body in named if body and body not in bodies)


def _update(
    model: type[models.Model], rows: list[Row], names: Collection[str], numbers: _Numbers
) -> None:
    """Write the columns that name rows which were inserted after these."""
    pk_by_old = numbers.of(model._meta.label_lower, [row["id"] for row in rows])
    instances = [
        model(pk=pk_by_old[row["id"]], **{name: row[name] for name in names})
        for row in _renumbered(model, rows, numbers)
        if any(row[name] is not None for name in names)
    ]
    fields = [name.removesuffix("_id") for name in names]
    model._default_manager.bulk_update(instances, fields, batch_size=ROWS_AT_ONCE // 2)


def _renumbered(model: type[models.Model], rows: list[Row], numbers: _Numbers) -> list[Row]:
    """Return the rows with the numbers that what they name has here.

    Where it is not here, `_renumber` raises ValueError or leaves it out, as the column asks for.
    """
    named = _numbers_named(model, rows)
    new_by_old = {label: numbers.of(label, old) for label, old in named.items()}
    return [_renumber(model, row, lambda label, old: new_by_old[label].get(old)) for row in rows]


def _numbers_named(model: type[models.Model], rows: list[Row]) -> dict[str, set[int]]:
    """Return the numbers by which rows name others, by the model of these."""
    named: defaultdict[str, set[int]] = defaultdict(set)

    def note(label: str, number: int) -> int:
        named[label].add(_number(number))
        return number

    for row in rows:
        _renumber(model, row, note)  # only to hear of each number
    return named


def _renumber(model: type[models.Model], row: Row, new: NewNumber) -> Row:
    """Return a row with the new numbers of what it names, but with its own as it is.

    Raises ValueError where it names what did not come with it.
    """
    changed = dict(row)
    for each in model._meta.concrete_fields:
        if not isinstance(each, models.ForeignKey) or row[each.attname] is None:
            continue
        target = each.remote_field.model._meta.label_lower
        changed[each.attname] = None if target in LEFT_BEHIND else new(target, row[each.attname])
        if changed[each.attname] is None and target not in LEFT_BEHIND:
            raise ValueError(
                f"a row of {model._meta.label_lower} names {target} {row[each.attname]!r:.20},"
                " which is not in it"
            )
    for name, renumber in NUMBERS_WITHIN.get(model._meta.label_lower, {}).items():
        changed[name] = renumber(row[name], new)
    return changed


def _listed(label: str) -> Callable[[Any, NewNumber], Any]:
    """Renumber a list; what is gone is left out of it."""

    def renumber(listed: list[int], new: NewNumber) -> list[int]:
        return [number for old in listed if (number := new(label, old)) is not None]

    return renumber


def _cluster(number: int, new: NewNumber) -> int:
    """Renumber a cluster; it is there as long as its site."""
    cluster = new("clustering.cluster", number)
    if cluster is None:
        raise ValueError(f"a change of clusters names cluster {number}, which is not in it")
    return cluster


def _map(points: list[list[Any]], new: NewNumber) -> list[list[Any]]:
    """Renumber the pages of a clustering's map: [page, x, y]."""
    moved = [[new("clustering.page", page), x, y] for page, x, y in points]
    return [point for point in moved if point[0] is not None]


def _snapshot_seen(number: int | None, new: NewNumber) -> int | None:
    """Renumber a snapshot that was judged; of one that is gone, none was."""
    return None if number is None else new("clustering.snapshot", number)


def _snapshot_extracted(number: int, new: NewNumber) -> int:
    """Renumber the snapshot that was extracted last; of one that is gone, the page is due again."""
    return new("clustering.snapshot", number) or 0


def _change_detail(detail: Row, new: NewNumber) -> Row:
    """Renumber the detail of a cluster change: pages, parts by cluster, clusters of groups."""
    listed = _listed("clustering.page")
    changed = dict(detail)
    if "pages" in detail:
        changed["pages"] = listed(detail["pages"], new)
    if "parts" in detail:
        changed["parts"] = {
            str(_cluster(int(part), new)): listed(pages, new)
            for part, pages in detail["parts"].items()
        }
    if "groups" in detail:
        changed["groups"] = {
            group: _cluster(cluster, new) for group, cluster in detail["groups"].items()
        }
    return changed


# Columns that hold numbers of other rows without being foreign keys.
NUMBERS_WITHIN: Final[dict[str, dict[str, Callable[[Any, NewNumber], Any]]]] = {
    "clustering.snapshotassets": {"assets": _listed("clustering.asset")},
    "clustering.clustering": {"answers": _listed("clustering.clusteranswer"), "map": _map},
    "clustering.clusterfigures": {"examples": _listed("clustering.page")},
    "clustering.clusterdoubt": {
        "left": _listed("clustering.page"),
        "right": _listed("clustering.page"),
    },
    "clustering.clusterreview": {
        "pages": _listed("clustering.page"),
        "strangers": _listed("clustering.page"),
    },
    "clustering.clusterchange": {"detail": _change_detail},
    "clustering.pagemembership": {"snapshot_seen": _snapshot_seen},
    "rules.extraction": {"snapshot_seen": _snapshot_extracted},
}


def _instance(model: type[models.Model], row: Row) -> models.Model:
    """Return a new row with checked values. Raises ValueError or ValidationError."""
    values = {}
    for each in model._meta.concrete_fields:
        if each.primary_key:
            continue
        if isinstance(each, models.BinaryField):
            values[each.attname] = url_hash(row["url"])
        elif isinstance(each, models.ForeignKey):
            values[each.attname] = row[each.attname]
        else:
            values[each.attname] = _value(each, row[each.attname])
    if model._meta.label_lower == "rules.rule":
        _check_rule(row)
    if model._meta.label_lower == "clustering.clusterchange":
        _check_cluster_change(row)
    return model(**values)


def _value(each: Any, written: Any) -> Any:
    """Return the value of a column as a written one says. Raises ValidationError and ValueError."""
    value = each.to_python(written)
    if value is None:
        if not each.null:
            raise ValueError(f"{each.model._meta.label_lower} without {each.name}")
        return None
    if each.choices and value not in dict(each.flatchoices) and not (each.blank and value == ""):
        raise ValueError(f"{value!r:.40} is no {each.name} of {each.model._meta.label_lower}")
    if isinstance(each, BodyField) and value and not BODY_NAME.fullmatch(value):
        raise ValueError(f"{value!r:.40} is no name of a body")
    if isinstance(value, float) and not abs(value) <= LARGEST:
        raise ValueError(f"{value} is no {each.name} of {each.model._meta.label_lower}")
    if each.name in PATHS_OF_NODES and value:
        read_path(value)
    if each.name in ADDRESSES and value and not ADDRESS.match(value):
        raise ValueError(f"{value!r:.40} is no address of a page")
    if isinstance(each, models.JSONField):
        _check_json(each, value)
    each.run_validators(value)
    return value


def _check_json(each: models.JSONField[Any, Any], value: Any) -> None:
    """Raise ValueError where JSON has not the form in which the product reads it back."""
    model = each.model._meta.label_lower
    usual = each.get_default()
    if isinstance(usual, dict | list) and type(value) is not type(usual):
        raise ValueError(f"{value!r:.40} is no {each.name} of {model}")
    forms = FORMS.get(model, {}).get(each.name, ())
    if not all(_has_form(value, form) for form in forms):
        raise ValueError(f"a part of {value!r:.40} is no part of {each.name} of {model}")


def _has_form(value: Any, form: Any) -> bool:
    """Return whether JSON has the form of a type: a plain one, a dataclass or a TypedDict."""
    parts = get_args(form)
    if form is Any:
        return True
    if get_origin(form) is UnionType:
        return any(_has_form(value, part) for part in parts)
    if get_origin(form) is dict:
        return isinstance(value, dict) and all(_has_form(part, parts[1]) for part in value.values())
    if get_origin(form) is list:
        return isinstance(value, list) and all(_has_form(part, parts[0]) for part in value)
    if get_origin(form) is tuple:
        has_length = isinstance(value, list) and (Ellipsis in parts or len(value) == len(parts))
        return has_length and all(_has_form(part, parts[0]) for part in value)
    if is_dataclass(form) or is_typeddict(form):
        return isinstance(value, dict) and _has_keys(value, form)
    if form is float:
        return type(value) in {int, float} and abs(value) <= LARGEST
    return type(value) is form


def _has_keys(value: Row, form: Any) -> bool:
    """Return whether an object has the required keys of a dataclass or TypedDict, in their form."""
    if is_typeddict(form):
        required = form.__required_keys__
    else:
        required = {each.name for each in fields(form) if each.default is MISSING}
    hints = get_type_hints(form)
    return required <= value.keys() and all(
        _has_form(value[name], hint) for name, hint in hints.items() if name in value
    )


def _check_cluster_change(row: Row) -> None:
    """Refuse a change of clusters that could not be shown."""
    form = DETAIL_BY_KIND.get(row["kind"])
    if form is not None and not _has_form(row["detail"], form):
        raise ValueError(f"{row['detail']!r:.40} is no detail of a change of clusters")


def _check_rule(row: Row) -> None:
    """Refuse a stylesheet that nobody could save and attributes that no vertical could have."""
    read_stylesheet(row["stylesheet"].encode())
    for written in row["schema"]:
        problems = problems_of(AttributeType.from_json(written))
        if problems:
            raise ValueError(f"an attribute of a rule: {problems[0]}")


def _few_rows(
    archive: zipfile.ZipFile, model: type[models.Model], names: Collection[str] = ()
) -> list[Row]:
    """Return the rows of a model that has few, with the columns that the export writes or these."""
    label = model._meta.label_lower
    few: list[Row] = []
    n_bytes = 0
    for row, n_bytes_of_row in _rows(archive, model, names):
        few.append(row)
        n_bytes += n_bytes_of_row
        if len(few) > MAX_NAMED:
            raise ValueError(f"more than {MAX_NAMED:,} rows of {label}")
        if n_bytes > BYTES_AT_ONCE:
            raise ValueError(f"the rows of {label} are larger than {BYTES_AT_ONCE >> 20} MiB")
    return few


def _batches(archive: zipfile.ZipFile, model: type[models.Model]) -> Iterator[list[Row]]:
    """Yield the rows of a model, so many at once as memory has room for."""
    batch: list[Row] = []
    n_bytes = 0
    for row, n_bytes_of_row in _rows(archive, model):
        batch.append(row)
        n_bytes += n_bytes_of_row
        if len(batch) == ROWS_AT_ONCE or n_bytes > BYTES_AT_ONCE:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def _rows(
    archive: zipfile.ZipFile, model: type[models.Model], names: Collection[str] = ()
) -> Iterator[tuple[Row, int]]:
    """Yield each row of a model with the bytes that it took; it has the columns of an export."""
    label = model._meta.label_lower
    columns = set(names) or {each.attname for each in site_export.exported_fields(model)}
    with archive.open(f"rows/{label}.jsonl") as stream:
        while line := stream.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise ValueError(f"a row of {label} is longer than {MAX_LINE >> 20} MiB")
            row = orjson.loads(line)
            if not isinstance(row, dict) or row.keys() != columns:
                raise ValueError(f"a row of {label} has not the columns of an export")
            yield row, len(line)


def _read(archive: zipfile.ZipFile, member: str, at_most: int) -> bytes:
    """Return the bytes of a file in the archive. Raises ValueError where they are more."""
    with archive.open(member) as stream:
        content = stream.read(at_most + 1)
    if len(content) > at_most:
        raise ValueError(f"{member} is larger than {at_most >> 20} MiB")
    return content
