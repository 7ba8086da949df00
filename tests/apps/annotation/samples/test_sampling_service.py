"""Drawing samples: by command, by job, into rows."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db.models import RestrictedError

from annotation.models import Sample
from annotation.services.samples import sampling
from clustering.models import Cluster, Snapshot
from clustering.services.sites import retention
from tests.apps.annotation.cast import cluster_of, product_page, shop
from tests.apps.core.test_commands import call, fail
from vertex.core.models import AuditEntry, Job, Site
from vertex.core.services.jobs.jobs import JobExists, run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def products(site: Site) -> Cluster:
    plain = [product_page(site, f"p/{n}", f"Runner {n}", f"{n} EUR") for n in range(6)]
    rich = [
        product_page(site, f"p/{n}", f"Runner {n}", f"{n} EUR", f"<dl><dd>{n} g</dd></dl>")
        for n in (6, 7)
    ]
    return cluster_of(site, "product", [*plain, *rich])


def draw(site: Site, **options: object) -> list[tuple[int, str]]:
    job = create_here(sampling.samples_request(site=site, **options))  # type: ignore[arg-type]
    job = run_job(job.pk, sampling.draw_samples)
    assert Job.State.DONE == job.state, job.error
    return list(Sample.objects.in_order().values_list("rank", "page__url"))


class TestDrawing:
    def test_the_page_that_shows_most_comes_first(self, site: Site, products: Cluster) -> None:
        assert (1, "https://shop.example/p/6") == draw(site)[0]

    def test_every_page_of_a_small_cluster_is_drawn_once(
        self, site: Site, products: Cluster
    ) -> None:
        assert list(range(1, 9)) == [rank for rank, _ in draw(site)]

    def test_drawing_again_replaces_the_samples(self, site: Site, products: Cluster) -> None:
        draw(site)

        assert 2 == len(draw(site, size=2))
        assert {"greedy"} == {sample.scheme for sample in Sample.objects.all()} or draw(
            site, scheme="greedy"
        )

    def test_of_one_cluster_leaves_the_others(self, site: Site, products: Cluster) -> None:
        cluster_of(site, "other", [product_page(site, "o/1")])
        draw(site)
        draw(site, cluster="product", size=1)

        assert {"product": 1, "other": 1} == {
            cluster.name: cluster.samples.count() for cluster in Cluster.objects.all()
        }

    def test_truncated_pages_and_errors_are_never_drawn(
        self, site: Site, products: Cluster
    ) -> None:
        pages = Snapshot.objects.filter(page__url__endswith="6")
        pages.update(problem=Snapshot.Problem.TRUNCATED)
        Snapshot.objects.filter(page__url__endswith="7").update(status=404)

        assert not {url[-1] for _, url in draw(site)} & {"6", "7"}

    def test_a_request_is_audited(self, site: Site, products: Cluster) -> None:
        draw(site)

        assert AuditEntry.objects.filter(action="samples.requested", site=site).exists()

    def test_a_second_job_waits_for_the_first(self, site: Site, products: Cluster) -> None:
        create_here(sampling.samples_request(site=site))
        with pytest.raises(JobExists):
            create_here(sampling.samples_request(site=site))

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"scheme": "best"}, "no sampling scheme"),
            ({"size": 0}, "from 1 to"),
            ({"cluster": "nope"}, "it has: product"),
        ],
    )
    def test_says_what_cannot_be_drawn(
        self, site: Site, products: Cluster, options: dict[str, object], problem: str
    ) -> None:
        with pytest.raises(ValidationError, match=problem):
            draw(site, **options)

    def test_a_site_without_clusters_is_refused(self, site: Site) -> None:
        with pytest.raises(ValidationError, match="no clusters yet"):
            draw(site)


class TestCommand:
    def test_writes_the_samples_in_order(self, site: Site, products: Cluster) -> None:
        lines, result = call("draw_samples", "shop", "--size", 2)

        assert ["cluster", "rank", "url", "gain"] == list(lines[0])
        assert [("product", 1), ("product", 2)] == [
            (line["cluster"], line["rank"]) for line in lines
        ]
        assert lines[0]["gain"] > lines[1]["gain"] >= 0
        assert "2 samples of 1 clusters" in result

    @pytest.mark.parametrize("scheme", ["weighted", "greedy", "random"])
    def test_draws_by_each_scheme(self, site: Site, products: Cluster, scheme: str) -> None:
        assert 3 == len(call("draw_samples", "shop", "--scheme", scheme, "--size", 3)[0])

    def test_an_unknown_cluster_is_an_error(self, site: Site, products: Cluster) -> None:
        assert "it has: product" in fail("draw_samples", "shop", "--cluster", "nope")


class TestKeeping:
    def test_a_sample_holds_its_snapshot(self, site: Site, products: Cluster) -> None:
        draw(site)
        with pytest.raises(RestrictedError):
            Snapshot.objects.filter(samples__isnull=False).delete()

    def test_samples_go_with_their_site(self, site: Site, products: Cluster) -> None:
        draw(site)
        run_job(retention.start_deletion(site=site, actor=None).pk, retention.delete_site)

        assert (0, 0) == (Sample.objects.count(), Site.objects.count())
