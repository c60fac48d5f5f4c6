(ns money "Amounts in cents, which do not lose any.")

(def rates "Percent of tax by country." {:de 19 :fr 20 :uk 20})

(defn with-tax
  "An amount with the tax of a country; nil for an unknown country."
  [cents country]
  (when-let [rate (get rates (keyword country))]
    (+ cents (quot (* cents rate) 100))))

(defn total
  "The sum of the :cents of rows."
  [rows]
  (reduce + (map :cents rows)))

(defn show
  "An amount as text: 1250 is \"12.50\"."
  [cents]
  (format "%d.%02d" (quot cents 100) (mod cents 100)))
