-- `ptc lsp` with Neovim's own client, run by `.ci/run editors`:
-- nvim --headless -u NONE -c 'luafile editors/neovim/test.lua', with the command in $PTC_COMMAND.

local uv = vim.loop
local failures = 0

local function check(what, holds, found)
  if not holds then
    failures = failures + 1
    io.stdout:write("failed: " .. what .. ": " .. vim.inspect(found) .. "\n")
  end
end

local function wait_for(what, holds)
  check(what, vim.wait(30000, holds, 20), "nothing came in time")
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
  return folder .. "/" .. name
end

write("crm.clj", '(ns crm)\n(defn find-user "Finds one." [id] {:id id})\n')
local program = write("billing.clj", table.concat({
  "(ns billing (:require [crm :as c]))",
  '(defn label [total] (str "🦀" (fliter odd? [total])))',
  "(defn due [id]",
  "(let [user (c/find-user id)] (:total user)))",
}, "\n") .. "\n")

local done = false
local client = vim.lsp.start_client({
  name = "ptc",
  cmd = { os.getenv("PTC_COMMAND") or "ptc", "lsp" },
  root_dir = folder,
  on_exit = function() done = true end,
})
vim.cmd("edit " .. program)
vim.lsp.buf_attach_client(0, client)

local function ask(method, line, column, more)
  local params = vim.tbl_extend("force", {
    textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = line, character = column },
  }, more or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 30000) or {}
  local answer = answers[client] or {}
  return answer.result, answer.error or answer.err
end

local function findings() return vim.diagnostic.get(0) end

wait_for("findings", function() return #findings() == 1 end)
local first = findings()[1] or {}
check("the place of a finding behind a crab", first.lnum == 1 and first.col == 33, first)
check("its code and text", first.code == "E0106" and first.message:find("did you mean `filter`", 1, true), first)

local actions = ask("textDocument/codeAction", 1, 0, {
  range = { start = { line = 1, character = 30 }, ["end"] = { line = 1, character = 36 } },
  context = { diagnostics = {} },
})
check("a fix", actions and actions[1] and actions[1].title == "Change to `filter`", actions)
vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
wait_for("no findings after the fix", function() return #findings() == 0 end)

local hover = ask("textDocument/hover", 3, 13)
check("documentation of another file", hover and hover.contents.value:find("Finds one.", 1, true), hover)
local place = ask("textDocument/definition", 3, 13)
check("its definition", place and place.uri:find("crm.clj", 1, true) and place.range.start.line == 1, place)
local items = ask("textDocument/completion", 3, 39)
check("a local among the completions", items and items.items[1].label == "user", items and items.items[1])
local _, refused = ask("textDocument/rename", 1, 14, { newName = "odd?" })
check("a rename that would change a meaning is refused", refused ~= nil, refused)
local renamed = ask("textDocument/rename", 3, 7, { newName = "person" })
vim.lsp.util.apply_workspace_edit(renamed, "utf-16")
local edits = ask("textDocument/formatting", 0, 0, { options = { tabSize = 2, insertSpaces = true } })
vim.lsp.util.apply_text_edits(edits, 0, "utf-16")
local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
check("renamed and laid out", text:find("%(let %[person %(c/find%-user id%)%]%s+%(:total person%)"), text)
check("the crab is still there", text:find('"🦀" (filter odd?', 1, true), text)

vim.lsp.stop_client(client)
wait_for("the end of the server", function() return done end)
io.stdout:write(failures == 0 and "Neovim and ptc lsp agree\n" or failures .. " failures\n")
vim.cmd(failures == 0 and "qa!" or "cq!")
