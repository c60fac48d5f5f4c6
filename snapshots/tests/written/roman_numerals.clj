; Numbers to Roman numerals and back.
(def numerals [[1000 "M"] [900 "CM"] [500 "D"] [400 "CD"] [100 "C"] [90 "XC"]
               [50 "L"] [40 "XL"] [10 "X"] [9 "IX"] [5 "V"] [4 "IV"] [1 "I"]])

(defn to-roman [n]
  (loop [n n [[v s] & more :as all] numerals out ""]
    (cond (zero? n) out
          (>= n v)  (recur (- n v) all (str out s))
          :else     (recur n more out))))

(defn from-roman [s]
  (let [value {\I 1 \V 5 \X 10 \L 50 \C 100 \D 500 \M 1000}]
    (->> (map value s)
         (partition 2 1 [0])
         (reduce (fn [acc [a b]] (if (< a b) (- acc a) (+ acc a))) 0))))

(let [xs [4 9 14 1990 2024]]
  [(map to-roman xs)
   (= xs (map (comp from-roman to-roman) xs))])
