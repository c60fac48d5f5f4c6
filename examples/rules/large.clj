; Whether someone has to look at an invoice.
(> (reduce + (map (fn [line] (* (:price line) (:amount line))) (:lines data/row))) 100)
