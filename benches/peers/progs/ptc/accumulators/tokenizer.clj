(def names ["price" "amount" "tax" "rate" "total" "discount" "x"])

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(defn statement [x]
  (str (names (mod x 7)) " = " (mod x 1009) " + " (names (mod x 6)) " * (" (mod x 17) " - y);"))

(def text
  (clojure.string/join "\n" (map statement (take 1000 (iterate next-random 1)))))

(defn kind-of [ch]
  (cond
    (Character/isLetter ch) :word
    (Character/isDigit ch) :number
    (Character/isWhitespace ch) :space
    :else :symbol))

(defn finish [{:keys [kind token] :as state}]
  (if (nil? kind)
    state
    (-> state
        (update :tokens conj {:kind kind :text token})
        (assoc :kind nil :token ""))))

(defn step [state ch]
  (let [kind (kind-of ch)]
    (cond
      (= kind :space) (finish state)
      (= kind :symbol) (update (finish state) :tokens conj {:kind :symbol :text (str ch)})
      (= kind (:kind state)) (update state :token str ch)
      :else (assoc (finish state) :kind kind :token (str ch)))))

(defn tokenize [text]
  (:tokens (finish (reduce step {:kind nil :token "" :tokens []} text))))

(let [tokens (tokenize text)
      check (reduce (fn [check token] (mod (+ (* check 31) (count (:text token))) 1000003)) 0 tokens)]
  (assoc (frequencies (map :kind tokens)) :check check))
