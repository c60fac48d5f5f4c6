; Shift letters, keep the rest, break by frequency.
(defn shift-char [n c]
  (let [code (int c)]
    (cond
      (<= (int \a) code (int \z)) (char (+ (int \a) (mod (+ n (- code (int \a))) 26)))
      (<= (int \A) code (int \Z)) (char (+ (int \A) (mod (+ n (- code (int \A))) 26)))
      :else c)))

(defn caesar [n s] (apply str (map (partial shift-char n) s)))

(defn crack [s]
  (let [common (->> (str/lower-case s) (filter #(Character/isLetter %)) frequencies (sort-by val) last key)
        n      (- (int \e) (int common))]
    (caesar n s)))

(let [secret (caesar 3 "Meet me here, Eve!")]
  [secret (caesar -3 secret) (crack secret)])
