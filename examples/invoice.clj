; One invoice: its net sum, and the tax of its country.
(let [{:keys [id country lines]} data/row
      net (reduce + (map (fn [line] (* (:price line) (:amount line))) lines))]
  {:id id :net net :tax (quot (* net (get data/rates country 0)) 100)})
