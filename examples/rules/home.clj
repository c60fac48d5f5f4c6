; Whether an invoice stays in the country.
(= (:country data/row) "NO")
