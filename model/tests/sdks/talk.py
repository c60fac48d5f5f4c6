"""A provider's own client against the provider of the test kit: words whole and in pieces, calls with their results,
thoughts, reasons to stop, an overload. Run by `main.rs` beside it: talk.py PART URL."""

import sys

KEY = "sk-none"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def same(was, wanted):
    assert was == wanted, f"{was!r}, not {wanted!r}"


def anthropic(url):
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0, timeout=60)
    asked = {"model": "fake", "max_tokens": 2000}
    tools = [{"name": "search", "description": "Searches", "input_schema": SCHEMA}]
    thinking = {"type": "enabled", "budget_tokens": 1024}

    def user(text):
        return [{"role": "user", "content": text}]

    reply = client.messages.create(messages=user("hello"), **asked)
    same((reply.content[0].text, reply.stop_reason), ("You said hello", "end_turn"))
    same((reply.usage.input_tokens, reply.usage.cache_read_input_tokens, reply.usage.output_tokens), (4, 8, 5))
    with client.messages.stream(messages=user("hello"), **asked) as stream:
        same("".join(stream.text_stream), "You said hello")
        same(stream.get_final_message().usage.output_tokens, 5)
    with client.messages.stream(messages=user("Call it"), tools=tools, thinking=thinking, **asked) as stream:
        streamed = stream.get_final_message()
    whole = client.messages.create(messages=user("Call it"), tools=tools, thinking=thinking, **asked)
    for reply in (whole, streamed):
        thought, call = reply.content
        same((thought.thinking, thought.signature), ("Tea is green.", "c2lnbmVk"))
        same((call.name, call.input, reply.stop_reason), ("search", {"q": "tea"}, "tool_use"))
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "green"}
        said = user("Call it") + [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
        reply = client.messages.create(messages=said, tools=tools, thinking=thinking, **asked)
        same(reply.content[-1].text, "The tool said green")
    for text, reason in (("Cut it", "max_tokens"), ("Refuse it", "refusal")):
        same(client.messages.create(messages=user(text), **asked).stop_reason, reason)
    for status, error in ((429, anthropic.RateLimitError), (529, anthropic.InternalServerError)):
        try:
            client.messages.create(messages=user(f"Fail {status}"), **asked)
            raise AssertionError("no error")
        except error as told:
            same((told.status_code, told.body["error"]["message"]), (status, "as you wish"))


def chat(url):
    import openai

    client = openai.OpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0, timeout=60)
    tools = [{"type": "function", "function": {"name": "search", "description": "Searches", "parameters": SCHEMA}}]

    def user(text):
        return [{"role": "user", "content": text}]

    def ask(said, **more):
        return client.chat.completions.create(model="fake", messages=said, **more)

    reply = ask(user("hello"))
    same((reply.choices[0].message.content, reply.choices[0].finish_reason), ("You said hello", "stop"))
    same((reply.usage.prompt_tokens, reply.usage.prompt_tokens_details.cached_tokens), (12, 8))
    chunks = list(ask(user("hello"), stream=True, stream_options={"include_usage": True}))
    same("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), "You said hello")
    same(chunks[-1].usage.completion_tokens, 5)
    with client.chat.completions.stream(model="fake", messages=user("Call it"), tools=tools) as stream:
        stream.until_done()
        streamed = stream.get_final_completion()
    for reply in (ask(user("Call it"), tools=tools), streamed):
        message = reply.choices[0].message
        call = message.tool_calls[0]
        same((call.function.name, call.function.arguments), ("search", '{"q":"tea"}'))
        same(reply.choices[0].finish_reason, "tool_calls")
        result = {"role": "tool", "tool_call_id": call.id, "content": "green"}
        said = user("Call it") + [message.to_dict(), result]
        same(ask(said, tools=tools).choices[0].message.content, "The tool said green")
    for text, reason in (("Cut it", "length"), ("Filter it", "content_filter")):
        same(ask(user(text)).choices[0].finish_reason, reason)
    same(ask(user("Refuse it")).choices[0].message.refusal, "I will not")
    openai_errors(openai, lambda text: ask(user(text)))


def openai_errors(openai, ask):
    for status, error in ((429, openai.RateLimitError), (529, openai.InternalServerError)):
        try:
            ask(f"Fail {status}")
            raise AssertionError("no error")
        except error as told:
            same((told.status_code, told.body["message"]), (status, "as you wish"))


def responses(url):
    import openai

    client = openai.OpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0, timeout=60)
    tools = [{"type": "function", "name": "search", "description": "Searches", "parameters": SCHEMA, "strict": False}]
    thinking = {"reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"], "store": False}

    def ask(said, **more):
        return client.responses.create(model="fake", input=said, **more)

    reply = ask("hello")
    same((reply.output_text, reply.status), ("You said hello", "completed"))
    same((reply.usage.input_tokens, reply.usage.input_tokens_details.cached_tokens), (12, 8))
    with client.responses.stream(model="fake", input="hello") as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        same("".join(pieces), "You said hello")
        same(stream.get_final_response().output_text, "You said hello")
    with client.responses.stream(model="fake", input="Call it", tools=tools, **thinking) as stream:
        streamed = stream.get_final_response()
    for reply in (ask("Call it", tools=tools, **thinking), streamed):
        thought, call = reply.output
        same((thought.summary[0].text, thought.encrypted_content), ("Tea is green.", "c2lnbmVk"))
        same((call.name, call.arguments), ("search", '{"q":"tea"}'))
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "green"}
        said = [{"role": "user", "content": "Call it"}, *(item.to_dict() for item in reply.output), result]
        same(ask(said, tools=tools, **thinking).output_text, "The tool said green")
    for text, reason in (("Cut it", "max_output_tokens"), ("Filter it", "content_filter")):
        same(ask(text).incomplete_details.reason, reason)
    same(ask("Refuse it").output[0].content[0].refusal, "I will not")
    openai_errors(openai, ask)


def gemini(url):
    from google import genai
    from google.genai import errors, types

    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url, timeout=60_000))
    declared = types.FunctionDeclaration(name="search", description="Searches", parameters_json_schema=SCHEMA)
    thinking = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
    )

    def ask(said, config=None):
        return client.models.generate_content(model="fake", contents=said, config=config)

    reply = ask("hello")
    same((reply.text, reply.candidates[0].finish_reason), ("You said hello", types.FinishReason.STOP))
    counts = reply.usage_metadata
    same((counts.prompt_token_count, counts.cached_content_token_count, counts.thoughts_token_count), (12, 8, 2))
    chunks = list(client.models.generate_content_stream(model="fake", contents="hello"))
    same("".join(chunk.text or "" for chunk in chunks), "You said hello")
    streamed = [
        part
        for chunk in client.models.generate_content_stream(model="fake", contents="Call it", config=thinking)
        for part in chunk.candidates[0].content.parts or []
    ]
    for parts in (ask("Call it", thinking).candidates[0].content.parts, streamed):
        thought, call = parts
        same((thought.text, thought.thought, call.thought_signature), ("Tea is green.", True, b"signed"))
        same((call.function_call.name, call.function_call.args), ("search", {"q": "tea"}))
        answer = types.FunctionResponse(id=call.function_call.id, name="search", response={"output": "green"})
        said = [
            types.UserContent("Call it"),
            types.Content(role="model", parts=parts),
            types.Content(role="user", parts=[types.Part(function_response=answer)]),
        ]
        same(ask(said, thinking).text, "The tool said green")
    for text, reason in (("Cut it", "MAX_TOKENS"), ("Filter it", "SAFETY")):
        same(ask(text).candidates[0].finish_reason.name, reason)
    for status, error in ((429, errors.ClientError), (529, errors.ServerError)):
        try:
            ask(f"Fail {status}")
            raise AssertionError("no error")
        except error as told:
            same((told.code, told.message), (status, "as you wish"))


def ollama(url):
    import ollama

    client = ollama.Client(host=url, timeout=60)
    tools = [{"type": "function", "function": {"name": "search", "description": "Searches", "parameters": SCHEMA}}]

    def user(text):
        return [{"role": "user", "content": text}]

    def ask(said, **more):
        return client.chat(model="fake", messages=said, **more)

    reply = ask(user("hello"))
    same((reply.message.content, reply.done_reason), ("You said hello", "stop"))
    same((reply.prompt_eval_count, reply.eval_count), (12, 5))
    chunks = list(ask(user("hello"), stream=True))
    same("".join(chunk.message.content or "" for chunk in chunks), "You said hello")
    same((chunks[-1].done, chunks[-1].eval_count), (True, 5))
    pieces = [chunk.message for chunk in ask(user("Call it"), tools=tools, think=True, stream=True)]
    streamed = ollama.Message(
        role="assistant",
        content="",
        thinking="".join(piece.thinking or "" for piece in pieces),
        tool_calls=[call for piece in pieces for call in piece.tool_calls or []],
    )
    for message in (ask(user("Call it"), tools=tools, think=True).message, streamed):
        call = message.tool_calls[0].function
        same((message.thinking, call.name, call.arguments), ("Tea is green.", "search", {"q": "tea"}))
        said = user("Call it") + [message, {"role": "tool", "tool_name": "search", "content": "green"}]
        same(ask(said, tools=tools, think=True).message.content, "The tool said green")
    same(ask(user("Cut it")).done_reason, "length")
    for status in (429, 529):
        try:
            ask(user(f"Fail {status}"))
            raise AssertionError("no error")
        except ollama.ResponseError as told:
            same((told.status_code, told.error), (status, "as you wish"))


part, url = sys.argv[1:]
{"anthropic": anthropic, "chat": chat, "responses": responses, "gemini": gemini, "ollama": ollama}[part](url)
