; Refused: a function of a query reaches no tools.
(defn owner [id] (:owner (tool/find {:id id})))
