#!/bin/sh
# A tiny MCP server of a shop, for the guides: it needs nothing but a shell. Real servers use an SDK.
# Three orders are late; two of their parcels are lost.

# Takes the first value of a key from a message on one line.
value() { printf '%s' "$line" | grep -o "\"$1\":\"\\{0,1\\}[^\",}]*" | head -n 1 | sed 's/.*:"\{0,1\}//'; }
result() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
data() { result "{\"content\":[{\"type\":\"text\",\"text\":\"see structuredContent\"}],\"structuredContent\":$1}"; }

while IFS= read -r line; do
  id=$(value id)
  case $line in
    *'"method":"initialize"'*)
      result '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result '{"tools":[
        {"name":"list_orders","description":"Orders to a country.","annotations":{"readOnlyHint":true},
         "inputSchema":{"type":"object","required":["country"],"properties":{"country":{"type":"string"}}}},
        {"name":"find_parcel","description":"Where the parcel of an order is.","annotations":{"readOnlyHint":true},
         "inputSchema":{"type":"object","required":["order"],"properties":{"order":{"type":"integer"}}}}]}' | tr -d '\n'
      echo ;;
    *'"name":"list_orders"'*)
      data '{"orders":[{"number":101,"customer":"Ada","total":63,"due":"2031-04-01"},{"number":102,"customer":"Linus","total":48,"due":"2031-04-09"},{"number":103,"customer":"Edsger","total":12,"due":"2031-03-28"},{"number":104,"customer":"Ada","total":20,"due":"2031-03-30"}]}' ;;
    *'"name":"find_parcel"'*)
      case $(value order) in
        103) data '{"status":"at customs"}' ;;
        *) data '{"status":"lost"}' ;;
      esac ;;
    *'"method":"ping"'*) result '{}' ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done
