"""The computer itself in the browser: its state, the doctor, the model, backups, settings, decisions, hooks and logs."""

import shutil
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import yaml
from playwright.sync_api import expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.furnished_files import furnish_decisions
from tests.browser.console.people import PHONE, Person
from tests.ops.backup.installation import Installation, keep_password
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long
WHOLE = True

SECRET = "the-word-of-that-server"


@pytest.fixture(scope="module")
def repository() -> Iterator[Installation | None]:
    """An installation with backups, where there is restic."""
    made = Installation(None) if shutil.which("restic") else None
    yield made
    if made:
        made.close()


@pytest.fixture(scope="module")
def settings(repository: Installation | None) -> dict[str, Any]:
    """Backups go where those of the installation go."""
    return {"backup": {"repository": str(repository.repository_folder)}} if repository else {}


@pytest.fixture(scope="module", autouse=True)
def password(computer: Computer, repository: Installation | None) -> None:
    """The computer has their password."""
    if repository:
        keep_password(computer, repository.access.password_file)


def written(computer: Computer) -> dict[str, object]:
    return dict(yaml.safe_load(computer.home.config.read_text()))


@at_both_sizes
def test_the_overview_says_what_runs(person: Person, computer: Computer) -> None:
    page = person.open("computer")
    expect(page.get_by_text(str(computer.vault))).to_be_visible()
    expect(page.get_by_text("Anthropic", exact=True)).to_be_visible()
    expect(page.get_by_text(str(computer.port), exact=True)).to_be_visible()


def test_stopping_everything_and_letting_it_work_again(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("computer")
    section = page.locator(".section", has_text="Stop everything")
    section.get_by_role("button", name="Stop everything").click()
    expect(section.get_by_role("status")).not_to_be_empty()
    expect(page.get_by_role("alert")).to_have_count(0)
    section.get_by_role("button", name="Stop now").click(delay=1500)
    expect(page.get_by_role("alert")).to_contain_text("Everything is stopped since")
    page.get_by_role("alert").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_doctor_finds_mends_and_hides(make_person: MakePerson, computer: Computer) -> None:
    open_file = computer.home.root / "hooks.yaml"
    open_file.chmod(0o644)
    page = make_person(PHONE).open("computer/doctor")
    expect(page.get_by_text("Checking everything.")).to_have_count(0)
    page.get_by_role("button", name="Check again").click()
    problem = page.locator(".computer-problem").filter(has=page.get_by_role("button", name="Repair")).first
    problem.get_by_role("button", name="Hide").click()
    hidden = page.locator(".section", has_text="Hidden").locator(".computer-problem")
    hidden.first.get_by_role("button", name="Show again").click()
    page.locator(".computer-problem", has_text="hooks.yaml").get_by_role("button", name="Repair").click()
    expect(page.locator(".computer-problem", has_text="hooks.yaml")).to_have_count(0)
    assert open_file.stat().st_mode & 0o077 == 0


def test_another_model_is_chosen_and_no_secret_comes_back(
    make_person: MakePerson, computer: Computer, model: MessagesAPI
) -> None:
    page = make_person(PHONE).open("computer/model")
    page.get_by_label("Model runs at").select_option("compatible")
    page.get_by_label("Address").fill(model.url)
    page.get_by_label("Key or token").fill(SECRET)
    page.get_by_role("button", name="Use this").click()
    expect(page.get_by_text("From now on: A compatible server.")).to_be_visible()
    expect(page.get_by_label("Key or token")).to_have_value("")
    assert SECRET in computer.home.credentials.read_text()
    page.reload()
    expect(page.locator("dd", has_text=model.url)).to_be_visible()
    assert SECRET not in page.content()
    page.get_by_role("button", name="Remove the login").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the login").click()
    expect(page.get_by_text("The login is removed.")).to_be_visible()
    assert not computer.home.credentials.exists()


@pytest.mark.skipif(shutil.which("restic") is None, reason="needs restic: `make test-deps` installs it")
def test_a_backup_is_made_listed_and_tried(make_person: MakePerson) -> None:
    page = make_person(PHONE).open("computer/backups")
    expect(page.get_by_text("No backup was made yet.")).to_be_visible()
    page.get_by_role("button", name="Back up now").click()
    expect(page.locator(".facts > div", has_text="Last backup").get_by_text("Complete")).to_be_visible()
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("list", name="Backups").get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Test restoring").click()
    tried = page.locator(".facts > div", has_text="Last restore test")
    expect(tried.get_by_text("Complete")).to_be_visible(timeout=120_000)
    expect(tried.get_by_text("The computer started from it.")).to_be_visible()


def test_a_setting_is_found_changed_and_set_back(person: Person, computer: Computer) -> None:
    page = person.open("computer/settings")
    page.get_by_label("Search settings").fill("audit.KEEP records")
    expect(page.locator(".computer-settings > li")).to_have_count(1)
    field = page.get_by_label("Keep the audit log for (days)")
    field.fill("30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("“Keep the audit log for” is saved, and takes effect with a restart.")).to_be_visible()
    expect(page.locator(".notice", has_text="Keep the audit log for")).to_be_visible()
    assert written(computer)["audit"] == {"keep_days": 30}
    # Without words what differs from the default is shown, and what does not is behind a button.
    page.get_by_label("Search settings").fill("")
    expect(field).to_be_visible()
    expect(page.get_by_label("Space for the audit log (MB)")).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_label("Space for the audit log (MB)")).to_be_visible()
    mine = page.get_by_role("listitem").filter(has=field)
    mine.get_by_role("button", name="Back to the default").click()
    expect(field).to_have_value("90")
    assert "audit" not in written(computer)


def test_a_setting_that_gives_rights_asks_and_a_wrong_one_changes_nothing(
    make_person: MakePerson, computer: Computer
) -> None:
    person = make_person(PHONE)
    page = person.open("computer/settings?search=network")
    page.get_by_label("What conversations reach").select_option("list")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("What conversations reach")).to_have_value("ask")
    page.get_by_label("Hosts that are always allowed").fill("docs.example.org\n*.example.com")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_role("button", name="Change it").click()
    expect(page.get_by_role("button", name="Back to the default")).to_be_visible()
    assert written(computer)["network"] == {"hosts": ["docs.example.org", "*.example.com"]}
    page.get_by_label("Hosts that are always allowed").fill("two words")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_role("button", name="Change it").click()
    expect(page.locator(".computer-settings").get_by_role("alert")).to_contain_text("network.hosts")
    assert written(computer)["network"] == {"hosts": ["docs.example.org", "*.example.com"]}
    assert all("422" in told for told in person.problems)
    person.problems.clear()


def test_decisions_about_hosts_are_taken_back(person: Person, computer: Computer) -> None:
    furnish_decisions(computer)
    page = person.open("computer/network")
    row = page.get_by_role("listitem").filter(has_text="tracker.example.com")
    expect(row.get_by_text("Refused")).to_be_visible()
    row.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("listitem").filter(has_text="tracker.example.com")).to_have_count(0)
    left = httpx2.get(f"{computer.url}/api/network/decisions", timeout=60, **PLAIN).json()["decisions"]
    assert [each["host"] for each in left] == ["docs.example.org"]


def test_repositories_and_tokens_of_git_hosts(person: Person, computer: Computer) -> None:
    host = "git.example.org"
    with httpx2.Client(base_url=computer.url, timeout=60, **PLAIN) as client:
        slug = client.post("/api/workspaces", json={"name": f"Boat at {host}"}).json()["workspace"]["slug"]
    page = person.open("computer/network")
    page.get_by_role("button", name="Add a repository").click()
    form = page.get_by_role("dialog", name="Add a repository")
    form.get_by_label("Repository").fill(f"git@{host}:ada/boat.git")
    form.get_by_label("For which conversations?").select_option(slug)
    form.get_by_label("What may they do with it?").select_option("Read and write it")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    rows = page.get_by_role("listitem").filter(has_text=f"{host}/ada/boat")
    expect(rows).to_have_count(2)
    rows.first.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(0)

    page.get_by_role("button", name="Store a token").click()
    form = page.get_by_role("dialog", name="Store a token")
    form.get_by_label("Host", exact=True).fill(host)
    form.get_by_label("Token", exact=True).fill(SECRET)
    form.get_by_role("button", name="Store", exact=True).click()
    expect(form).to_have_count(0)
    row = page.get_by_role("listitem").filter(has_text=host)
    expect(row).to_contain_text(f"…{SECRET[-4:]}")
    page.reload()
    expect(row).to_be_visible()
    assert SECRET not in page.content()
    row.get_by_role("button", name=f"Remove the token of {host}").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    assert host not in (computer.home.root / "git-tokens.json").read_text()


def test_hooks_are_listed(make_person: MakePerson, computer: Computer) -> None:
    page = make_person(PHONE).open("computer/hooks")
    expect(page.get_by_role("navigation", name="Computer").get_by_role("link", name="Hooks")).to_be_in_viewport()
    expect(page.locator(".row", has_text="load_context")).to_contain_text("session.start")


def test_a_log_is_followed(make_person: MakePerson, computer: Computer) -> None:
    page = make_person().open("computer/logs")
    log = page.get_by_role("log", name="Log of core")
    expect(log).to_contain_text("startup complete")
    with (computer.home.logs / "core.log").open("a") as file:
        file.write("a line of now <b>bold</b>\n")
    expect(log).to_contain_text("a line of now <b>bold</b>")


def test_the_computer_restarts_and_the_page_comes_back(make_person: MakePerson, computer: Computer) -> None:
    person = make_person()
    page = person.open("computer/settings?search=audit.keep_days")
    page.get_by_label("Keep the audit log for (days)").fill("31")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".computer-setting-name", has_text="After a restart")).to_be_visible()
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("dialog").get_by_role("button", name="Restart").click()
    expect(page.get_by_text("Restarting. This page comes back by itself.")).to_be_visible()
    expect(page.get_by_text("After a restart")).to_have_count(0)
    expect(page.get_by_label("Keep the audit log for (days)")).to_have_value("31")
    # What broke off while it was down.
    person.problems.clear()


def test_who_has_no_admin_rights_does_not_see_it(make_person: MakePerson) -> None:
    page = make_person(scopes=["chat:read,write"]).page
    expect(page.locator("nav.column").get_by_role("link", name="Chat")).to_be_visible()
    expect(page.locator("nav.column").get_by_role("link", name="Computer")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong_for_assistive_programs(make_person: MakePerson, scheme: str) -> None:
    person = make_person(PHONE, bypass_csp=True, color_scheme=scheme)
    for tab in ("overview", "doctor", "model", "backups", "settings", "network", "hooks", "logs"):
        page = person.open(f"computer/{tab}")
        expect(page.locator(".loading")).to_have_count(0)
        assert violations(page) == [], tab


def test_in_german_and_by_keyboard(make_person: MakePerson) -> None:
    page = make_person(locale="de-DE").open("computer")
    page.get_by_role("link", name="Einstellungen").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Einstellungen durchsuchen").focus()
    page.keyboard.type("trust_mode")
    switch = page.get_by_role("switch")
    expect(switch).to_have_count(1)
    switch.focus()
    page.keyboard.press("Space")
    dialog = page.get_by_role("dialog", name="„Arbeiten, ohne jedes Mal zu fragen“ ändern?")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(switch).to_be_checked()
