"""Which findings an answer would produce."""

from conversations import HELLO, chat, said

from turntape.proxy.breakpoints.findings_preview import FindingsPreview


def test_the_findings_of_an_answer_are_known_before_it_is_recorded_also_by_their_former_ids() -> None:
    preview = FindingsPreview()
    rejected = chat([HELLO], status=400, error={"error": {"message": "No such word."}})
    try:
        assert preview.findings(rejected).result() == ["request-rejected", "api-invalid-request"]
        assert preview.findings(chat([HELLO], said("It is noon."))).result() == []
    finally:
        preview.close()
