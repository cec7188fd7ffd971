"""Request as the command line program really sends it: a second turn with two tools, recorded from version 2.1.330 and trimmed."""

from typing import Any

CLI_REQUEST: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "messages": [
        {
            "role": "user",
            "content": [
                {
                    "type": "text",
                    "text": "<system-reminder>\nAttribution for git commits and pull requests you create from here on "
                    "(this replaces Claude Code's own earlier attribution guidance):\n- End git commit messages with:\n"
                    "Co-Authored-By: Claude Opus 5.5 <noreply@anthropic.com>\n</system-reminder>\n",
                },
                {"type": "text", "text": "What is a journal good for?"},
            ],
        },
        {
            "role": "system",
            "content": "# Environment\nYou have been invoked in the following environment: \n"
            " - Primary working directory: /tmp/tmppux9upk3\n - Is a git repository: false\n - Platform: linux\n"
            " - Shell: bash\n\nYou are powered by the model named Opus 5.5. The exact model ID is claude-opus-5-5.\n\n"
            "Today's date is 2026-11-21.",
            "output_config": {"effort": "medium"},
        },
        {"role": "assistant", "content": [{"type": "text", "text": "For keeping thoughts."}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "And for whom?", "cache_control": {"type": "ephemeral"}}],
        },
    ],
    "system": [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.330.4f9; cc_entrypoint=sdk-py;"},
        {
            "type": "text",
            "text": "You are a Claude agent, built on Anthropic's Claude Agent SDK.",
            "cache_control": {"type": "ephemeral"},
        },
        {"type": "text", "text": "You are a journal companion.", "cache_control": {"type": "ephemeral"}},
    ],
    "tools": [
        {
            "name": "Read",
            "description": "Reads a file from the local filesystem.",
            "input_schema": {
                "type": "object",
                "properties": {"file_path": {"type": "string"}},
                "required": ["file_path"],
            },
        }
    ],
    "metadata": {"user_id": '{"device_id":"2f0d52ee","account_uuid":"","session_id":"67e2fac7"}'},
    "max_tokens": 128000,
    "thinking": {"type": "adaptive", "display": "updates"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "medium"},
    "stream": True,
}
