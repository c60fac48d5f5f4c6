// The task of the benchmark, in both languages, and its data.

export const SMALL = `
(def rates {"de" 19 "no" 25 "se" 25})
(def names {"de" "Germany" "no" "Norway" "se" "Sweden"})

(defn net [order]
  (reduce + (map (fn [line] (* (:price line) (:amount line))) (:lines order))))

(defn tax [country cents]
  (quot (* cents (get rates country 0)) 100))

(defn label [cents]
  (cond
    (> cents 1000) "large"
    (> cents 100) "medium"
    :else "small"))

(defn bill [order]
  (let [country (:country order)
        sum (net order)
        due (tax country sum)]
    {:id (:id order)
     :country (get names country "elsewhere")
     :net sum
     :tax due
     :gross (+ sum due)
     :size (label sum)}))

(defn by-country [bills]
  (reduce (fn [totals b]
            (assoc totals (:country b) (+ (get totals (:country b) 0) (:gross b))))
          {}
          bills))

(let [open (filter (fn [o] (not (:paid o))) data/orders)
      bills (mapv bill open)
      totals (by-country bills)]
  {:count (count bills)
   :largest (reduce max 0 (map :gross bills))
   :totals totals
   :sizes (frequencies (map :size bills))
   :ids (mapv :id bills)})
`;

export const SMALL_JAVASCRIPT = `
const rates = { de: 19, no: 25, se: 25 };
const names = { de: "Germany", no: "Norway", se: "Sweden" };

function net(order) {
  return order.lines.reduce((total, line) => total + line.price * line.amount, 0);
}

function tax(country, cents) {
  return Math.trunc((cents * (rates[country] ?? 0)) / 100);
}

function label(cents) {
  if (cents > 1000) return "large";
  if (cents > 100) return "medium";
  return "small";
}

function bill(order) {
  const { country } = order;
  const sum = net(order);
  const due = tax(country, sum);
  return {
    id: order.id,
    country: names[country] ?? "elsewhere",
    net: sum,
    tax: due,
    gross: sum + due,
    size: label(sum),
  };
}

function main(orders) {
  const bills = orders.filter((order) => !order.paid).map(bill);
  const totals = {};
  const sizes = {};
  for (const { country, gross, size } of bills) {
    totals[country] = (totals[country] ?? 0) + gross;
    sizes[size] = (sizes[size] ?? 0) + 1;
  }
  const largest = bills.reduce((most, { gross }) => Math.max(most, gross), 0);
  return { count: bills.length, largest, totals, sizes, ids: bills.map(({ id }) => id) };
}
`;

const COUNTRIES = ["de", "no", "se", "dk"];

function order(n) {
  const lines = [0, 1, 2].map((k) => ({ price: (n * 7 + k) % 90, amount: k + 1 }));
  return { id: n, country: COUNTRIES[n % 4], paid: n % 5 === 0, lines };
}

export const ORDERS = Array.from({ length: 20 }, (_, n) => order(n));
export const MANY = Array.from({ length: 10_000 }, (_, n) => order(n));
