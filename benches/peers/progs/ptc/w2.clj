(loop [i 0 total 0]
  (if (< i 1000000)
    (recur (inc i) (+ total (mod (* i i) 7)))
    total))
