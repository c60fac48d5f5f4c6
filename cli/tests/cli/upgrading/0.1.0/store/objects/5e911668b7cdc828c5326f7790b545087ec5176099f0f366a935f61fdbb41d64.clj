(ns crm)
(defn page [n] (* n 50))
