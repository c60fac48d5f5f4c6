(let [numbers (map (fn [i] (mod (* i 7919) 10007)) (range 10000))]
  [(first (sort numbers))
   (first (sort > numbers))
   (first (sort-by (fn [n] [(mod n 10) n]) numbers))
   (first (sort (fn [a b] (compare (mod a 100) (mod b 100))) numbers))])
