(ns metrics "Numbers about numbers.")

(defn share
  "How much of the whole a part is, in percent."
  [part whole]
  (if (zero? whole) 0 (quot (* 100 part) whole)))
